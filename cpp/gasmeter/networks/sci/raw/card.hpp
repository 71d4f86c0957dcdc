// A SISCI card for raw programs. Transfers are stores and loads (scipp), or DMA that a program posts and waits for
// (dma_bench). A program sends data with a put, and the target watches the last byte. Control words and messages
// without contents are stores into a ring, which their receiver keeps for each sender.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "gasmeter/bench/raw_card.hpp"
#include "gasmeter/networks/sci/raw/programs.hpp"

namespace gasmeter::networks::sci::raw {

// A word of a ring, as it is stored. The number comes last: it proves that the word has arrived.
struct Word {
  bench::CardWord word;
  std::uint32_t is_message = 0;
  std::uint32_t number = 0;
};
static_assert(sizeof(Word) == 32);

class WordRings final : public Segment {
 public:
  static constexpr std::uint32_t kPlaces = 64;

  explicit WordRings(std::uint32_t ranks) : Segment(Bytes{ranks} * kPlaces * sizeof(Word)), rings_(ranks) {}

  [[nodiscard]] static Bytes at(Rank sender, std::uint32_t number) {
    return (Bytes{index(sender)} * kPlaces + number % kPlaces) * sizeof(Word);
  }
  void store(Bytes at, std::span<const std::byte> bytes) override {
    constexpr Bytes kRing = kPlaces * sizeof(Word);
    std::unique_ptr<Ring>& ring = rings_[at / kRing];
    if (ring == nullptr) ring = std::make_unique<Ring>();
    std::memcpy(reinterpret_cast<std::byte*>(ring.get()) + at % kRing, bytes.data(), bytes.size());
    if ((at + bytes.size()) % sizeof(Word) == 0) there_.push_back(&(*ring)[at % kRing / sizeof(Word)]);
  }
  void load(Bytes /*at*/, std::span<std::byte> /*into*/) const override {}

  // Return the first word that has arrived, or null.
  [[nodiscard]] const Word* next() { return there_.empty() ? nullptr : there_.front(); }
  void free() { there_.pop_front(); }

 private:
  using Ring = std::array<Word, kPlaces>;
  std::vector<std::unique_ptr<Ring>> rings_;
  std::deque<const Word*> there_;
};

template <class Owner>
class Card : public bench::CardBase<Card<Owner>> {
  using Base = bench::CardBase<Card>;

 public:
  static constexpr const char* kNetwork = "sci";
  static constexpr bool kNotifiesTarget = false;
  static constexpr bool kSendsRegistered = false;

  Card(Context context, Owner& owner, Bytes /*message*/)
      : Base(context.host, context.rank, context.ranks),
        sisci_(context.sisci),
        owner_(owner),
        path_(context.path),
        confirms_(context.confirms),
        rings_(context.ranks),
        told_(context.ranks) {
    sisci_.create_segment(kRings, rings_);
    sisci_.set_available(kRings);
  }

  [[nodiscard]] bool fits(Bytes bytes) const { return bytes == 0; }
  [[nodiscard]] unsigned most_waiting() const { return WordRings::kPlaces / 2; }
  void register_memory(std::span<std::byte> memory) {
    const auto id = static_cast<std::uint32_t>(kMemory + memory_.size());
    sisci_.create_segment(id, memory_.emplace_back(memory));
    sisci_.set_available(id);
  }

  bool step() {
    this->host().synchronise();
    if (const Word* const word = rings_.next()) {
      take(*word);
      return true;
    }
    if (under_way_ && transferred_) {
      end_transfer();
      return true;
    }
    if (unconfirmed_.empty() || path_ == Path::dma) return false;
    sisci_.check();
    for (const Bytes bytes : std::exchange(unconfirmed_, {})) owner_.notified(bytes);
    return true;
  }

  void tell(Rank to, const bench::CardWord& word) { post(to, {.word = word}); }
  // A message says that data have arrived, and must not overtake the DMA engine, which carries the data.
  void send(Rank to, std::span<const std::byte> /*nothing*/) {
    this->wait_until([&] { return !under_way_; });
    post(to, {.word = {}, .is_message = 1});
  }
  void put(Rank to, std::byte* remote, const std::byte* local, Bytes bytes, bool notify) {
    const RemoteSegment memory = sisci_.connect(to, kMemory);
    const auto at = static_cast<Bytes>(remote - static_cast<const MemorySegment*>(memory.segment)->data());
    if (confirms_ && notify) unconfirmed_.push_back(bytes);
    if (path_ == Path::pio) {
      sisci_.store(memory, at, {local, bytes});
      return;
    }
    this->wait_until([&] { return !under_way_; });
    sisci_.post_dma(memory, at, local, bytes, transferred_);
    under_way_ = true;
    this->host().price_polls(this->host().prices()[conduit::SharedPrice::device_read].fixed);
  }
  void get(Rank from, std::byte* local, std::byte* remote, Bytes bytes) {
    const RemoteSegment memory = sisci_.connect(from, kMemory);
    const auto at = static_cast<Bytes>(remote - static_cast<const MemorySegment*>(memory.segment)->data());
    sisci_.load(memory, at, {local, bytes});
    owner_.notified(bytes);
  }

 private:
  enum SegmentId : std::uint32_t { kRings, kMemory };

  void post(Rank to, Word word) {
    const std::uint32_t number = told_[index(to)]++;
    word.number = number + 1;
    sisci_.store(sisci_.connect(to, kRings), WordRings::at(this->rank(), number), std::as_bytes(std::span(&word, 1)));
  }
  void take(const Word& slot) {
    this->host().charge_shared(conduit::SharedPrice::line_transfer);
    const Word word = slot;
    rings_.free();
    if (word.is_message != 0) {
      owner_.received(reinterpret_cast<const std::byte*>(&word), 0);
    } else if (!this->take_word(word.word)) {
      owner_.told(word.word);
    }
  }
  void end_transfer() {
    sisci_.look_at_dma();
    under_way_ = false;
    this->host().price_polls({});
    if (unconfirmed_.empty()) return;
    const Bytes bytes = unconfirmed_.front();
    unconfirmed_.pop_front();
    owner_.notified(bytes);
  }

  Sisci& sisci_;
  Owner& owner_;
  Path path_;
  bool confirms_;
  WordRings rings_;
  std::deque<MemorySegment> memory_;
  std::vector<std::uint32_t> told_;  // words sent, by rank
  std::deque<Bytes> unconfirmed_;    // puts whose end the owner wants to hear of
  bool under_way_ = false;           // a DMA transfer is in progress
  bool transferred_ = false;         // the DMA transfer is over
};

}  // namespace gasmeter::networks::sci::raw
