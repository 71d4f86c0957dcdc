// A port for raw programs. Every wait takes events that have arrived. Messages have low priority and the size class of
// the largest message. Control words have high priority. Puts are directed sends, and the target's card answers gets.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <string>

#include "gasmeter/base/error.hpp"
#include "gasmeter/base/number_pool.hpp"
#include "gasmeter/bench/pattern.hpp"
#include "gasmeter/bench/raw_card.hpp"
#include "gasmeter/networks/gm/raw/programs.hpp"

namespace gasmeter::networks::gm::raw {

template <class Owner>
class Card : public bench::CardBase<Card<Owner>> {
  using Base = bench::CardBase<Card>;
  using Word = bench::CardWord;

 public:
  static constexpr const char* kNetwork = "gm";
  static constexpr bool kNotifiesTarget = false;  // the event of a directed send goes to the origin
  static constexpr bool kSendsRegistered = true;

  Card(Context context, Owner& owner, Bytes message)
      : Base(context.host, context.rank, context.ranks),
        port_(context.port),
        owner_(owner),
        message_size_(size_class_of(std::max(message, sizeof(Word)))),
        receives_(Bytes{port_.receive_tokens() / 2} << message_size_),
        words_(Bytes{port_.receive_tokens() - port_.receive_tokens() / 2} << kWordSize),
        told_(port_.send_tokens() * sizeof(Word)),
        told_free_(0, port_.send_tokens()) {
    for (const bench::AlignedBuffer* const each : {&receives_, &words_, &told_}) register_memory(*each);
    const unsigned messages = port_.receive_tokens() / 2;
    for (std::uint64_t i = 0; i < messages; ++i) provide(i, Priority::low);
    for (std::uint64_t i = 0; port_.receive_tokens() != 0; ++i) provide(i, Priority::high);
  }

  [[nodiscard]] bool fits(Bytes /*bytes*/) const { return true; }
  // GM holds messages that find no receive, so that programs need no credits.
  [[nodiscard]] unsigned most_waiting() const { return std::numeric_limits<unsigned>::max(); }
  void register_memory(std::span<std::byte> memory) { port_.register_memory(memory); }

  // Take one event.
  bool step() {
    const auto event = port_.poll();
    if (!event) return false;
    if (event->type == Event::Type::received) {
      take_received(*event);
    } else if (event->id < told_free_.count()) {
      told_free_.give(static_cast<std::uint32_t>(event->id));
    } else if (event->id == kNotified) {
      owner_.notified(event->bytes);
    }
    return true;
  }

  void tell(Rank to, const Word& word) {
    this->wait_until([&] { return !told_free_.empty() && port_.send_tokens() != 0; });
    const std::uint32_t which = told_free_.take();
    std::byte* const copy = told_.data() + which * sizeof word;
    this->host().copy(copy, &word, sizeof word);
    (void)port_.send(to, copy, sizeof word, kWordSize, Priority::high, which);
  }
  void send(Rank to, std::span<const std::byte> message) {
    this->wait_until([&] {
      return port_.send(to, message.data(), message.size(), message_size_, Priority::low, kSilent) == Status::ok;
    });
  }
  void put(Rank to, void* remote, const void* local, Bytes bytes, bool notify) {
    this->wait_until([&] {
      return port_.directed_send(to, remote, local, bytes, Priority::low, notify ? kNotified : kSilent) == Status::ok;
    });
  }
  void get(Rank from, void* local, const void* remote, Bytes bytes) {
    this->wait_until([&] { return port_.get(from, local, remote, bytes, Priority::low, kNotified) == Status::ok; });
  }

 private:
  static constexpr SizeClass kWordSize = size_class_of(sizeof(Word));
  // Ids of send events. Sends of words use the numbers of their buffers.
  static constexpr std::uint64_t kSilent = kMostTokens;
  static constexpr std::uint64_t kNotified = kSilent + 1;

  void provide(std::uint64_t which, Priority priority) {
    const bool is_word = priority == Priority::high;
    const SizeClass size = is_word ? kWordSize : message_size_;
    const std::span<std::byte> all = is_word ? words_ : receives_;
    (void)port_.provide_receive({which, all.subspan(which << size, Bytes{1} << size), size, priority});
  }
  void take_received(const Event& event) {
    if (event.priority == Priority::low) {
      owner_.received(receives_.data() + (event.id << message_size_), event.bytes);
    } else {
      Word word;
      std::memcpy(&word, words_.data() + (event.id << kWordSize), sizeof word);
      if (!this->take_word(word)) owner_.told(word);
    }
    provide(event.id, event.priority);
  }

  GmPort& port_;
  Owner& owner_;
  SizeClass message_size_;
  bench::AlignedBuffer receives_;
  bench::AlignedBuffer words_;
  bench::AlignedBuffer told_;  // words that are being sent
  NumberPool told_free_;
};

}  // namespace gasmeter::networks::gm::raw
