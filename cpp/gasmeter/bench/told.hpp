// How a rank tells another that an operation is complete, beside the measured network: by words of memory that both
// share.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>

#include "gasmeter/base/platform.hpp"

namespace gasmeter::bench {

// Counts of operations of one direction, from 1.
struct alignas(kNoSharing) ToldLine {
  std::atomic<std::uint64_t> begins{0};    // written by the initiator: the last operation that is about to begin
  std::atomic<std::uint64_t> watched{0};   // written by the target: the last operation for which it has ceased to poll
  std::atomic<std::uint64_t> complete{0};  // written by the initiator: the last operation reported complete
  std::atomic<std::uint64_t> seen{0};      // written by the target: the last operation whose effect it has looked at
};

// Lines in memory that all ranks of a job share; it begins as zeros.
struct ToldLines {
  std::array<ToldLine, 2> lines;  // by direction: from the rank that measures, and back to it
};

// The end of a line at one rank. A target looks by loads, and not by the measured network. It does not poll between the
// word that tells it and its look. An operation whose data only a poll would bring is thus found incomplete.
class ToldEnd {
 public:
  // Set the line; null: nothing is told, and nobody looks.
  void use(ToldLine* line) { line_ = line; }
  [[nodiscard]] bool is_used() const { return line_ != nullptr; }

  // Begin, at the initiator, in front of the operation. Polls until the target watches, which may need these polls to
  // get there.
  template <class Poll>
  void begin(Poll poll) {
    if (line_ == nullptr) return;
    ++number_;
    line_->begins.store(number_, std::memory_order_release);
    while (line_->watched.load(std::memory_order_acquire) < number_) {
      poll();
      std::this_thread::yield();
    }
  }
  // Tell, at the initiator, that the operation is reported complete; return when the target has looked. Does not poll,
  // lest a poll completes the operation.
  void complete() {
    if (line_ == nullptr) return;
    line_->complete.store(number_, std::memory_order_release);
    while (line_->seen.load(std::memory_order_acquire) < number_) std::this_thread::yield();
  }
  // Watch, at the target, once for each begin(): call look() at the instant at which the operation is complete. The
  // target polls where an operation needs that: kQuiet after its beginning, and then with pauses in which it only
  // watches.
  template <class Poll, class Look>
  void watch(Poll poll, Look look) {
    if (line_ == nullptr) return;
    ++number_;
    while (line_->begins.load(std::memory_order_acquire) < number_) {
      poll();
      std::this_thread::yield();
    }
    line_->watched.store(number_, std::memory_order_release);
    for (auto pause = kQuiet; !is_told_within(pause); pause = kPause) poll();
    look();
    line_->seen.store(number_, std::memory_order_release);
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::microseconds kQuiet{500};
  static constexpr std::chrono::microseconds kPause{10};

  [[nodiscard]] bool is_told_within(std::chrono::microseconds patience) const {
    const auto end = Clock::now() + patience;
    for (;;) {
      if (line_->complete.load(std::memory_order_acquire) >= number_) return true;
      if (Clock::now() >= end) return false;
      std::this_thread::yield();
    }
  }

  ToldLine* line_ = nullptr;
  std::uint64_t number_ = 0;  // number of the last operation
};

}  // namespace gasmeter::bench
