// How a rank tells another one that an operation is complete beside what is measured: by words of memory that both
// share, and that no network carries.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>

#include "gasmeter/base/platform.hpp"

namespace gasmeter::bench {

// Operations of one direction, counted from 1.
struct alignas(kNoSharing) ToldLine {
  std::atomic<std::uint64_t> begins{0};    // by the initiator: the last operation that is about to begin
  std::atomic<std::uint64_t> watched{0};   // by the target: the last one for which it has ceased to poll
  std::atomic<std::uint64_t> complete{0};  // by the initiator: the last one that was reported complete
  std::atomic<std::uint64_t> seen{0};      // by the target: the last one whose effect it has looked at
};

// In memory that all ranks of a job share; zeros are its beginning.
struct ToldLines {
  std::array<ToldLine, 2> lines;  // by direction: from the rank that measures, and back to it
};

// The end of a line at one rank. A target looks by loads, and is not told by what is measured: between the word that
// tells it and its look it does not poll, so that an operation whose data a poll would bring is not complete yet.
class ToldEnd {
 public:
  // Null: nothing is told, and nobody looks.
  void use(ToldLine* line) { line_ = line; }
  [[nodiscard]] bool is_used() const { return line_ != nullptr; }

  // At the initiator, in front of the operation. Polls until the target watches, which may need that to get there.
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
  // At the initiator, when the operation is reported complete. Returns when the target has looked; polls nothing, lest
  // that makes the operation complete.
  void complete() {
    if (line_ == nullptr) return;
    line_->complete.store(number_, std::memory_order_release);
    while (line_->seen.load(std::memory_order_acquire) < number_) std::this_thread::yield();
  }
  // At the target, for each begin(): look() is called at the instant the operation is complete. The target polls where
  // an operation needs that: kQuiet after its beginning, and then with pauses in which it watches alone.
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
  std::uint64_t number_ = 0;  // of the last operation
};

}  // namespace gasmeter::bench
