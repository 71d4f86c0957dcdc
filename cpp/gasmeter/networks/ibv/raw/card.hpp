// Queue pairs for raw programs. Every wait takes completions that have arrived. Messages are sends over queue pair 0,
// control words sends over queue pair 1. Puts and gets are RDMA writes and reads, as in perftest. Some programs inline,
// as perftest's latency tests do: work requests then carry payloads that fit. Other programs do not, as OFED's example
// ibv_rc_pingpong: the adapter then reads all payloads from registered memory.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>

#include "gasmeter/base/error.hpp"
#include "gasmeter/base/number_pool.hpp"
#include "gasmeter/bench/pattern.hpp"
#include "gasmeter/bench/raw_card.hpp"
#include "gasmeter/networks/ibv/raw/programs.hpp"

namespace gasmeter::networks::ibv::raw {

template <class Owner>
class Card : public bench::CardBase<Card<Owner>> {
  using Base = bench::CardBase<Card>;
  using Word = bench::CardWord;

 public:
  static constexpr const char* kNetwork = "ibv";
  static constexpr bool kNotifiesTarget = false;  // a write's completion goes to the origin
  static constexpr bool kSendsRegistered = true;

  Card(Context context, Owner& owner, Bytes message)
      : Base(context.host, context.rank, context.ranks),
        verbs_(context.context),
        owner_(owner),
        may_inline_(context.may_inline),
        stride_((std::max(message, sizeof(Word)) + 63) / 64 * 64),
        receives_(kReceives * stride_),
        words_(kWords * sizeof(Word)),
        told_(may_inline_ ? 0 : kWords * sizeof(Word)),
        told_free_(0, may_inline_ ? 0 : kWords) {
    if (may_inline_ && !inlines(sizeof(Word))) {
      throw UsageError("raw@ibv: hca.inline_limit of " + std::to_string(verbs_.parameters().inline_limit) +
                       "; at least " + std::to_string(sizeof(Word)) + " are needed");
    }
    verbs_.open({kSends, {kReceives, kWords}, 4 * kSends * context.ranks + kWords, kReceives + kWords});
    register_memory(receives_);
    register_memory(words_);
    if (!may_inline_) register_memory(told_);
    for (unsigned i = 0; i < kReceives; ++i) post_receive(i, 0);
    for (unsigned i = 0; i < kWords; ++i) post_receive(i, 1);
  }

  [[nodiscard]] bool fits(Bytes /*bytes*/) const { return true; }
  [[nodiscard]] unsigned most_waiting() const { return kReceives; }
  void register_memory(std::span<std::byte> memory) { verbs_.register_memory(memory); }

  // Take one completion. A queue that is empty while the other is not costs a miss.
  bool step() {
    if (const auto completion = verbs_.poll_received()) {
      take_received(*completion);
      return true;
    }
    const auto completion = verbs_.poll_sent();
    if (!completion) return false;
    this->host().charge(conduit::PrivatePrice::poll_miss);
    if (completion->opcode != Opcode::send) {
      owner_.notified(completion->bytes);
    } else if (completion->number == 1 && !may_inline_) {
      told_free_.give(static_cast<std::uint32_t>(completion->id));
    }
    return true;
  }

  void tell(Rank to, const Word& word) {
    if (may_inline_) {
      post(to, {.local = &word, .bytes = sizeof word, .inlined = true}, 1);
      return;
    }
    this->wait_until([&] { return !told_free_.empty(); });
    const std::uint32_t which = told_free_.take();
    std::byte* const copy = told_.data() + which * sizeof word;
    this->host().copy(copy, &word, sizeof word);
    post(to, {.id = which, .local = copy, .bytes = sizeof word}, 1);
  }
  void send(Rank to, std::span<const std::byte> message) {
    post(to, {.local = message.data(), .bytes = message.size(), .inlined = inlines(message.size())});
  }
  void put(Rank to, void* remote, const void* local, Bytes bytes, bool notify) {
    post(to, {.opcode = Opcode::write,
              .local = local,
              .remote = remote,
              .bytes = bytes,
              .inlined = inlines(bytes),
              .signaled = notify});
  }
  void get(Rank from, void* local, void* remote, Bytes bytes) {
    post(from, {.opcode = Opcode::read, .local = local, .remote = remote, .bytes = bytes});
  }

 private:
  static constexpr unsigned kReceives = 128;  // messages that may wait
  static constexpr unsigned kWords = 64;      // words that may wait; without inlining: words that may be in flight
  static constexpr unsigned kSends = 128;     // work requests of a queue pair

  [[nodiscard]] bool inlines(Bytes bytes) const { return may_inline_ && bytes <= verbs_.parameters().inline_limit; }
  void post(Rank to, const WorkRequest& request, unsigned number = 0) {
    this->wait_until([&] { return verbs_.post(to, request, number) == Status::ok; });
  }
  void post_receive(std::uint64_t which, unsigned number) {
    const std::span<std::byte> all = number == 0 ? receives_ : words_;
    const Bytes each = number == 0 ? stride_ : sizeof(Word);
    (void)verbs_.post_receive({which, all.subspan(which * each, each)}, number);
  }
  void take_received(const WorkCompletion& completion) {
    if (completion.number == 0) {
      owner_.received(receives_.data() + completion.id * stride_, completion.bytes);
    } else {
      Word word;
      std::memcpy(&word, words_.data() + completion.id * sizeof word, sizeof word);
      if (!this->take_word(word)) owner_.told(word);
    }
    post_receive(completion.id, completion.number);
  }

  IbvContext& verbs_;
  Owner& owner_;
  bool may_inline_;
  Bytes stride_;
  bench::AlignedBuffer receives_;
  bench::AlignedBuffer words_;
  bench::AlignedBuffer told_;  // words that are being sent
  NumberPool told_free_;
};

}  // namespace gasmeter::networks::ibv::raw
