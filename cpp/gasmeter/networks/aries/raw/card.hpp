// uGNI for raw programs. Every wait takes events that have arrived. A message is an FMA put into the next slot at its
// target. Its flag says that the message has arrived, and how long it is. A control word is an FMA put into the slot of
// its kind. Remote events tell of both. Puts and gets go by a window or by the block transfer engine. A message after a
// put by an engine would overtake that put. The message therefore waits until earlier puts are done.
#pragma once

#include <algorithm>
#include <array>
#include <bitset>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <span>

#include "gasmeter/bench/pattern.hpp"
#include "gasmeter/bench/raw_card.hpp"
#include "gasmeter/networks/aries/raw/programs.hpp"

namespace gasmeter::networks::aries::raw {

template <class Owner>
class Card : public bench::CardBase<Card<Owner>> {
  using Base = bench::CardBase<Card>;
  using Word = bench::CardWord;

 public:
  static constexpr const char* kNetwork = "aries";
  static constexpr bool kNotifiesTarget = false;   // a global event goes to the origin
  static constexpr bool kSendsRegistered = false;  // the window has the bytes when send() returns

  Card(Context context, Owner& owner, Bytes message)
      : Base(context.host, context.rank, context.ranks),
        domain_(context.domain),
        owner_(owner),
        boxes_(context.boxes),
        engine_(context.engine),
        stride_(((message <= kCutover ? message : 0) + kFlagBytes + 63) / 64 * 64),  // longer messages are puts
        own_(kWordSlots * kWordStride + kWaiting * stride_),
        arrivals_(domain_.cq_create(kWordSlots + kWaiting)),
        completions_(domain_.cq_create(kPosts)) {
    this->host().price_misses(domain_.parameters().cq_empty * 2);
    boxes_.resize(context.ranks);
    Box& box = boxes_[index(context.rank)];
    box.words = own_.data();
    box.messages = own_.data() + kWordSlots * kWordStride;
    box.own = domain_.mem_register(own_, arrivals_);
  }

  [[nodiscard]] bool fits(Bytes bytes) const { return bytes <= kCutover && bytes + kFlagBytes <= stride_; }
  [[nodiscard]] unsigned most_waiting() const { return kWaiting; }
  // Expose memory to peers. Peers reach the memory that was registered last. The last word is whole, since gets reach
  // words.
  void register_memory(std::span<std::byte> memory) {
    memory_ = domain_.mem_register({memory.data(), (memory.size() + kGetAlignment - 1) & ~(kGetAlignment - 1)});
    boxes_[index(this->rank())].base = memory.data();
    boxes_[index(this->rank())].memory = memory_;
  }

  // Take one event, or send a message that waits. A queue that is empty while the other has events costs a look.
  bool step() {
    if (!owed_.empty() && owed_.front().behind <= done_ && under_way_ < kPosts) {
      const Rank to = owed_.front().to;
      owed_.pop_front();
      begin_send(to, {});
      return true;
    }
    if (const auto event = domain_.cq_get_event(arrivals_)) {
      take_arrival(event->data);
      return true;
    }
    const auto event = domain_.cq_get_event(completions_);
    if (!event) return false;
    this->host().spend(domain_.parameters().cq_empty, sim::Step::poll);
    take_completion(event->data);
    return true;
  }

  void tell(Rank to, const Word& word) {
    wait_for_post();
    const std::uint32_t turn = word.kind < Word::kAddress ? word.epoch : told_[word.kind - Word::kAddress]++;
    const std::uint32_t slot = word.kind * kTurns + turn % kTurns;
    post(to,
         {.local = &word,
          .remote = boxes_[index(to)].words + slot * kWordStride,
          .remote_memory = boxes_[index(to)].own,
          .length = sizeof word},
         slot);
  }
  // A message behind puts by an engine has to wait: in a list if it has no payload, else in this call.
  void send(Rank to, std::span<const std::byte> message) {
    if (!message.empty()) this->wait_until([&] { return done_ == begun_; });
    if (done_ != begun_) {
      owed_.push_back({to, begun_});
      return;
    }
    begin_send(to, message);
  }
  void put(Rank to, void* remote, const void* local, Bytes bytes, bool notify) {
    if (notify || !goes_by_engine(bytes)) return transfer(to, true, remote, local, bytes, notify ? bytes : kSilent);
    this->wait_until([&] { return begun_ - done_ < kPosts; });
    transfer(to, true, remote, local, bytes, kUntold | begun_ % kPosts);
    ++begun_;
  }
  // A get that is not aligned fetches whole words and copies the requested bytes.
  void get(Rank from, void* local, void* remote, Bytes bytes) {
    const auto begin = reinterpret_cast<std::uintptr_t>(remote);
    const Bytes before = begin % kGetAlignment;
    const Bytes words = (before + bytes + kGetAlignment - 1) & ~(kGetAlignment - 1);
    if (words == bytes) return transfer(from, false, remote, local, bytes, bytes);
    this->wait_until([&] { return !fetched_.is_pending; });
    fetched_ = {static_cast<std::byte*>(local), bytes, before, true};
    std::byte* const to = bounce(words);
    transfer(from, false, static_cast<std::byte*>(remote) - before, to, words, kBounced);
  }

  // Do an atomic on a word at `offset` of the peer's registered memory. The old value goes to `local`, in this rank's
  // registered memory. The owner is then notified of `id`.
  void amo(Rank to, Bytes offset, AmoCommand command, AmoType type, const AmoOperands& operands, void* local,
           std::uint64_t id) {
    wait_for_post();
    domain_.post_fma({to, completions_}, {.post_id = id,
                                          .type = PostType::amo,
                                          .dlvr_mode = DeliveryMode::in_order,
                                          .local = local,
                                          .local_memory = memory_,
                                          .remote = boxes_[index(to)].base + offset,
                                          .remote_memory = boxes_[index(to)].memory,
                                          .command = command,
                                          .amo_type = type,
                                          .fetches = true,
                                          .operands = operands});
  }

 private:
  static constexpr std::uint32_t kTurns = 4;  // words of a kind that may wait
  static constexpr Bytes kWordStride = 32;
  static constexpr std::uint32_t kWordSlots = Word::kKinds * kTurns;
  static constexpr unsigned kWaiting = 128;  // messages that may wait
  static constexpr std::uint32_t kMessage = 1U << 31U;
  static constexpr std::uint32_t kPosts = 512;  // posts in flight; GASNet's conduit has as many descriptors
  static constexpr std::uint64_t kSilent = ~std::uint64_t{0};  // id of a post whose end is not reported
  static constexpr std::uint64_t kBounced = kSilent - 1;
  static constexpr std::uint64_t kUntold = std::uint64_t{1} << 62U;  // flag of a put by an engine

  struct Fetched {
    std::byte* to = nullptr;
    Bytes bytes = 0;
    Bytes before = 0;
    bool is_pending = false;
  };

  struct Owed {
    Rank to{};
    std::uint64_t behind = 0;  // number of puts
  };

  [[nodiscard]] bool goes_by_engine(Bytes bytes) const {
    return bytes != 0 && (engine_ == Engine::bte || (engine_ == Engine::automatic && bytes > kCutover));
  }
  void wait_for_post() {
    this->wait_until([&] { return under_way_ < kPosts; });
    ++under_way_;
  }
  void begin_send(Rank to, std::span<const std::byte> message) {
    wait_for_post();
    const std::uint32_t slot = static_cast<std::uint32_t>(sent_++ % kWaiting);
    std::byte* const at = boxes_[index(to)].messages + slot * stride_;
    post(to,
         {.type = PostType::fma_put_with_flag,
          .local = message.data(),
          .remote = at + kFlagBytes,
          .remote_memory = boxes_[index(to)].own,
          .length = message.size(),
          .flag = reinterpret_cast<std::uint64_t*>(at),
          .flag_value = message.size()},
         kMessage | slot);
  }
  void post(Rank to, PostDescriptor descriptor, std::uint32_t remote_event) {
    descriptor.post_id = kSilent;
    descriptor.cq_mode = kGlobalEvent | kRemoteEvent;
    descriptor.dlvr_mode = DeliveryMode::in_order;
    domain_.post_fma({to, completions_, remote_event}, descriptor);
  }
  void transfer(Rank to, bool is_put, void* remote, const void* local, Bytes bytes, std::uint64_t id) {
    wait_for_post();
    const bool is_program = id != kBounced;
    PostDescriptor descriptor = {.post_id = id,
                                 .dlvr_mode = DeliveryMode::in_order,
                                 .local = local,
                                 .local_memory = is_program ? memory_ : bounce_memory_,
                                 .remote = remote,
                                 .remote_memory = boxes_[index(to)].memory,
                                 .length = bytes};
    if (goes_by_engine(bytes)) {
      descriptor.type = is_put ? PostType::rdma_put : PostType::rdma_get;
      domain_.post_rdma({to, completions_}, descriptor);
    } else {
      descriptor.type = is_put ? PostType::fma_put : PostType::fma_get;
      domain_.post_fma({to, completions_}, descriptor);
    }
  }
  [[nodiscard]] std::byte* bounce(Bytes bytes) {
    if (bounce_ == nullptr || bounce_->size() < bytes) {
      if (bounce_memory_) domain_.mem_deregister(bounce_memory_);
      bounce_ = std::make_unique<bench::AlignedBuffer>(bytes);
      bounce_memory_ = domain_.mem_register(*bounce_);
    }
    return bounce_->data();
  }

  void take_arrival(std::uint64_t data) {
    if ((data & kMessage) == 0) {
      Word word;
      std::memcpy(&word, own_.data() + data * kWordStride, sizeof word);
      if (!this->take_word(word)) owner_.told(word);
      return;
    }
    const std::byte* const at = own_.data() + kWordSlots * kWordStride + (data & ~std::uint64_t{kMessage}) * stride_;
    std::uint64_t bytes = 0;
    std::memcpy(&bytes, at, sizeof bytes);
    owner_.received(at + kFlagBytes, bytes);
  }
  void take_completion(std::uint64_t id) {
    --under_way_;
    if (id == kSilent) return;
    if (id != kBounced && (id & kUntold) != 0) {
      is_done_[id % kUntold] = true;
      for (; done_ != begun_ && is_done_[done_ % kPosts]; ++done_) is_done_[done_ % kPosts] = false;
      return;
    }
    Bytes bytes = id;
    if (id == kBounced) {
      bytes = fetched_.bytes;
      this->host().copy(fetched_.to, bounce_->data() + fetched_.before, bytes);
      fetched_.is_pending = false;
    }
    owner_.notified(bytes);
  }

  Domain& domain_;
  Owner& owner_;
  Boxes& boxes_;
  Engine engine_;
  Bytes stride_;  // of a message's slot
  bench::AlignedBuffer own_;
  CqHandle arrivals_;
  CqHandle completions_;
  MemoryHandle memory_;
  std::unique_ptr<bench::AlignedBuffer> bounce_;  // for a get that is not aligned
  MemoryHandle bounce_memory_;
  Fetched fetched_;
  std::array<std::uint32_t, Word::kKinds - Word::kAddress> told_{};
  std::uint64_t sent_ = 0;
  std::uint64_t begun_ = 0;  // puts by an engine that are not reported to the owner
  std::uint64_t done_ = 0;   // how many of those puts, from the first on, are done
  std::bitset<kPosts> is_done_;
  std::deque<Owed> owed_;
  std::uint32_t under_way_ = 0;
};

}  // namespace gasmeter::networks::aries::raw
