// Buffers that fall free at the far end of a link, as the near end learns of it.
#pragma once

#include <atomic>
#include <bit>
#include <cstdint>
#include <memory>

#include "gasmeter/base/units.hpp"

namespace gasmeter::sim {

// A ring of instants, written by the node at the far end, read by the one at the near end, possibly on two threads.
// What is written in a window of time is for later windows: a reader that heeds only instants before the end of its own
// window sees the same whichever thread is ahead.
class CreditReturn {
 public:
  // Once, before use: no more than so many are out at a time.
  void room_for(unsigned buffers) {
    mask_ = std::bit_ceil(buffers) - 1;
    free_at_ = std::make_unique_for_overwrite<std::int64_t[]>(mask_ + std::size_t{1});
  }

  // Far end. Credits come back in order: one that would overtake another comes with it.
  void give(SimTime at) {
    const std::uint32_t place = written_.load(std::memory_order_relaxed);
    if (at.ps > last_) last_ = at.ps;
    free_at_[place & mask_] = last_;
    written_.store(place + 1, std::memory_order_release);
  }

  // Near end: how many have come back by now.
  [[nodiscard]] unsigned take(SimTime now) {
    const std::uint32_t before = read_;
    while (next() <= now) ++read_;
    return read_ - before;
  }
  // The next one that has not been taken; kNever where none is known.
  [[nodiscard]] SimTime next() const {
    if (read_ == written_.load(std::memory_order_acquire)) return kNever;
    return {free_at_[read_ & mask_]};
  }

 private:
  std::atomic<std::uint32_t> written_{0};
  std::int64_t last_ = 0;  // the far end's
  std::uint32_t read_ = 0;
  std::uint32_t mask_ = 0;
  std::unique_ptr<std::int64_t[]> free_at_;
};

}  // namespace gasmeter::sim
