// The raw variants of kernels on InfiniBand verbs, without a conduit.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "gasmeter/base/error.hpp"
#include "gasmeter/bench/pattern.hpp"
#include "gasmeter/networks/ibv/ibv_context.hpp"
#include "gasmeter/networks/network.hpp"

namespace gasmeter::networks::ibv::raw {

// What a program gets.
struct Context {
  IbvContext& context;
  sim::ModelHost host;
  Rank rank;
  std::uint32_t ranks;
};

[[nodiscard]] std::unique_ptr<Program> make_ping_pong(Context context, const Settings& settings);
[[nodiscard]] std::unique_ptr<Program> make_flood(Context context, const Settings& settings);
[[nodiscard]] std::unique_ptr<Program> make_barrier(Context context, const Settings& settings);

// What programs tell each other beside what is measured: inlined sends over queue pair 1.
struct Word {
  static constexpr std::uint32_t kBarrierRounds = 32;  // kinds below this are a barrier's rounds
  std::uint32_t kind = 0;
  std::uint32_t epoch = 0;
  std::uint32_t least = 0;
  std::uint32_t unused = 0;
  std::byte* address = nullptr;
};

// Of the programs between two ranks.
inline constexpr std::uint32_t kAddress = Word::kBarrierRounds;  // where the other rank's memory is
inline constexpr Bytes kShortBytes = 8;

// Queue pairs as programs use them: whatever waits takes what has come.
//
// `Owner` has received(const std::byte* data, const WorkCompletion&), for sends over queue pair 0, whose buffer is
// posted again afterwards; done(const WorkCompletion&), for what it posted itself; and told(Rank, const Word&), for
// words of its own kinds. None of them may wait.
template <class Owner>
class Verbs {
 public:
  static constexpr unsigned kReceives = 128;  // messages of queue pair 0 that may wait
  static constexpr unsigned kSends = 128;     // work requests of a queue pair

  Verbs(Context context, Owner& owner, Bytes message)
      : context_(context),
        owner_(owner),
        stride_((std::max(message, sizeof(Word)) + 63) / 64 * 64),
        receives_(kReceives * stride_),
        words_(kWords * sizeof(Word)) {
    if (card().parameters().inline_limit < sizeof(Word)) {
      throw UsageError("raw@ibv: hca.inline_limit of " + std::to_string(card().parameters().inline_limit) +
                       "; at least " + std::to_string(sizeof(Word)) + " are needed");
    }
    card().open({kSends, {kReceives, kWords}, 4 * kSends * context.ranks + kWords, kReceives + kWords});
    card().register_memory(receives_);
    card().register_memory(words_);
    for (unsigned i = 0; i < kReceives; ++i) post_receive(i, 0);
    for (unsigned i = 0; i < kWords; ++i) post_receive(i, 1);
  }

  [[nodiscard]] IbvContext& card() { return context_.context; }
  [[nodiscard]] sim::ModelHost& host() { return context_.host; }

  // Takes one completion; whether there was one. A queue that is empty while the other is not costs a miss.
  bool progress() {
    if (const auto completion = card().poll_received()) {
      take_received(*completion);
      return true;
    }
    const auto completion = card().poll_sent();
    if (!completion) return false;
    host().charge(conduit::PrivatePrice::poll_miss);
    if (completion->id != kWord) owner_.done(*completion);
    return true;
  }
  template <class Done>
  void wait_until(Done done) {
    while (!done()) {
      if (!progress()) host().idle(kNever);
    }
  }
  void post(Rank to, const WorkRequest& request, unsigned number = 0) {
    wait_until([&] { return card().post(to, request, number) == Status::ok; });
  }
  void tell(Rank to, const Word& word) {
    WorkRequest send;
    send.id = kWord;
    send.local = &word;
    send.bytes = sizeof word;
    send.inlined = true;
    post(to, send, 1);
  }

  // Dissemination (Hensgen, Finkel, Manber 1988). Every rank gives a number and learns the smallest of all.
  std::uint32_t barrier(std::uint32_t number = 0) {
    ++epoch_;
    Word word{0, epoch_, number, 0, nullptr};
    for (; (std::uint64_t{1} << word.kind) < context_.ranks; ++word.kind) {
      const std::uint64_t partner = (index(context_.rank) + (std::uint64_t{1} << word.kind)) % context_.ranks;
      tell(Rank{static_cast<std::uint32_t>(partner)}, word);
      const Word& here = arrived_[word.kind][epoch_ % 2];
      wait_until([&] { return here.epoch == epoch_; });
      word.least = std::min(word.least, here.least);
    }
    return word.least;
  }

 private:
  static constexpr unsigned kWords = 64;
  static constexpr std::uint64_t kWord = ~std::uint64_t{0};  // the id of a word's send

  void post_receive(std::uint64_t which, unsigned number) {
    const std::span<std::byte> all = number == 0 ? receives_ : words_;
    const Bytes each = number == 0 ? stride_ : sizeof(Word);
    (void)card().post_receive({which, all.subspan(which * each, each)}, number);
  }
  void take_received(const WorkCompletion& completion) {
    if (completion.number == 0) {
      owner_.received(receives_.data() + completion.id * stride_, completion);
    } else {
      Word word;
      std::memcpy(&word, words_.data() + completion.id * sizeof word, sizeof word);
      if (word.kind < Word::kBarrierRounds) {
        arrived_[word.kind][word.epoch % 2] = word;
      } else {
        owner_.told(completion.peer, word);
      }
    }
    post_receive(completion.id, completion.number);
  }

  Context context_;
  Owner& owner_;
  Bytes stride_;
  bench::AlignedBuffer receives_;
  bench::AlignedBuffer words_;
  std::uint32_t epoch_ = 0;
  std::array<std::array<Word, 2>, Word::kBarrierRounds> arrived_{};  // by round and epoch
};

// By kernel.
[[nodiscard]] const RawPrograms<Context>& programs();

}  // namespace gasmeter::networks::ibv::raw
