// Buffers that fall free at the far end of a link, as the near end learns of it.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <memory>
#include <vector>

#include "gasmeter/base/platform.hpp"
#include "gasmeter/base/units.hpp"

namespace gasmeter::sim {

// A ring of instants, written by the node at the far end, read by the one at the near end, possibly on two threads.
// What is written in a window of time is for later windows: a reader that heeds only instants before the end of its own
// window sees the same whichever thread is ahead. Kept at the far end: every packet writes, few senders have to read.
class CreditReturn {
 public:
  // Once, before use: no more than so many are out at a time.
  void room_for(unsigned buffers) {
    mask_ = std::bit_ceil(buffers) - 1;
    ring_ = std::make_unique_for_overwrite<std::int64_t[]>(mask_ + std::size_t{1});
  }

  // In no particular order.
  GASMETER_INLINE void give(SimTime at) {
    const std::uint32_t place = written_.load(std::memory_order_relaxed);
    ring_[place & mask_] = at.ps;
    written_.store(place + 1, std::memory_order_release);
  }

 private:
  friend class CreditsComing;
  std::unique_ptr<std::int64_t[]> ring_;
  std::atomic<std::uint32_t> written_{0};
  std::uint32_t mask_ = 0;
};

// What the near end has read and not yet used. A buffer holds few packets: no heap is worth its while.
class CreditsComing {
 public:
  // How many have come back by now.
  [[nodiscard]] unsigned take(const CreditReturn& from, SimTime now) {
    const std::uint32_t written = from.written_.load(std::memory_order_acquire);
    unsigned taken = 0;
    for (; read_ != written; ++read_) {
      const std::int64_t at = from.ring_[read_ & from.mask_];
      if (at <= now.ps) {
        ++taken;
      } else {
        coming_.push_back(at);
        next_ = std::min(next_, at);
      }
    }
    if (next_ > now.ps) return taken;
    next_ = kNever.ps;
    std::size_t kept = 0;
    for (const std::int64_t at : coming_) {
      coming_[kept] = at;
      if (at > now.ps) {
        ++kept;
        next_ = std::min(next_, at);
      }
    }
    taken += static_cast<unsigned>(coming_.size() - kept);
    coming_.resize(kept);
    return taken;
  }
  // The next of those that take() has seen.
  [[nodiscard]] SimTime next() const { return {next_}; }

 private:
  std::uint32_t read_ = 0;
  std::int64_t next_ = kNever.ps;
  std::vector<std::int64_t> coming_;
};

}  // namespace gasmeter::sim
