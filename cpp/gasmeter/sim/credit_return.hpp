// Buffers that fall free at the far end of a link, as the near end learns of it.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "gasmeter/base/platform.hpp"
#include "gasmeter/base/units.hpp"

namespace gasmeter::sim {

// A ring of instants, written by the node at the far end, read by the one at the near end, possibly on two threads.
// What is written in a window of time is for later windows: a reader that heeds only instants before the end of its own
// window sees the same whichever thread is ahead. Kept at the far end: every packet writes, few senders have to read.
//
// A view: a word that counts what was ever written, then the ring.
class CreditReturn {
 public:
  // Words of memory, zero at first, for no more than so many credits that are out at a time.
  [[nodiscard]] static constexpr std::size_t words(unsigned buffers) { return 1 + std::bit_ceil(buffers); }

  CreditReturn(std::uint64_t* memory, unsigned buffers) : memory_(memory), mask_(std::bit_ceil(buffers) - 1) {}

  // In no particular order.
  GASMETER_INLINE void give(SimTime at) const {
    const std::uint64_t place = *memory_;
    memory_[1 + (place & mask_)] = static_cast<std::uint64_t>(at.ps);
    std::atomic_ref(*memory_).store(place + 1, std::memory_order_release);
  }

  [[nodiscard]] std::uint64_t written() const { return std::atomic_ref(*memory_).load(std::memory_order_acquire); }
  [[nodiscard]] std::int64_t at(std::uint64_t place) const {
    return static_cast<std::int64_t>(memory_[1 + (place & mask_)]);
  }

 private:
  std::uint64_t* memory_;
  std::uint64_t mask_;
};

// What the near end has read and not yet used. A buffer holds few packets: no heap is worth its while.
class CreditsComing {
 public:
  // How many have come back by now.
  [[nodiscard]] unsigned take(const CreditReturn& from, SimTime now) {
    const std::uint64_t written = from.written();
    unsigned taken = 0;
    for (; read_ != written; ++read_) {
      const std::int64_t at = from.at(read_);
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
  std::uint64_t read_ = 0;
  std::int64_t next_ = kNever.ps;
  std::vector<std::int64_t> coming_;
};

}  // namespace gasmeter::sim
