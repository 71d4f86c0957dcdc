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
// A view. Word 0 tells where the last one was written; the ring is the other words.
class CreditReturn {
 public:
  // Words of memory, zero at first, for no more than so many credits that are out at a time. Up to 7 are one cache
  // line.
  [[nodiscard]] static constexpr std::size_t words(unsigned buffers) { return std::bit_ceil(buffers + 1); }

  CreditReturn(std::uint64_t* memory, unsigned buffers) : memory_(memory), mask_(words(buffers) - 1) {}

  // In no particular order.
  GASMETER_INLINE void give(SimTime at) const {
    const std::uint64_t place = after(*memory_);
    memory_[place & mask_] = static_cast<std::uint64_t>(at.ps);
    std::atomic_ref(*memory_).store(place, std::memory_order_release);
  }

  // Places go on for ever; 0 is before the first one.
  [[nodiscard]] std::uint64_t last() const { return std::atomic_ref(*memory_).load(std::memory_order_acquire); }
  [[nodiscard]] std::uint64_t after(std::uint64_t place) const { return place + ((place & mask_) == mask_ ? 2 : 1); }
  [[nodiscard]] SimTime at(std::uint64_t place) const { return {static_cast<std::int64_t>(memory_[place & mask_])}; }

 private:
  std::uint64_t* memory_;
  std::uint64_t mask_;
};

// What the near end has read and not yet used. A buffer holds few packets: no heap is worth its while.
class CreditsComing {
 public:
  // How many have come back by now.
  [[nodiscard]] unsigned take(const CreditReturn& from, SimTime now) {
    return take(from, now, [](std::int64_t) {});
  }
  // `each` is told their instants, in no particular order.
  template <class Each>
  unsigned take(const CreditReturn& from, SimTime now, Each&& each) {
    const std::uint64_t last = from.last();
    unsigned taken = 0;
    while (read_ != last) {
      read_ = from.after(read_);
      const std::int64_t at = from.at(read_).ps;
      if (at <= now.ps) {
        each(at);
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
      } else {
        each(at);
      }
    }
    taken += static_cast<unsigned>(coming_.size() - kept);
    coming_.resize(kept);
    return taken;
  }
  // One that will not come after all, although `from` says so.
  void withdraw(const CreditReturn& from, SimTime at) {
    for (const std::uint64_t last = from.last(); read_ != last;) {
      read_ = from.after(read_);
      coming_.push_back(from.at(read_).ps);
    }
    const auto place = std::find(coming_.begin(), coming_.end(), at.ps);
    *place = coming_.back();
    coming_.pop_back();
    next_ = coming_.empty() ? kNever.ps : *std::min_element(coming_.begin(), coming_.end());
  }
  // The next of those that take() has seen.
  [[nodiscard]] SimTime next() const { return {next_}; }

 private:
  std::uint64_t read_ = 0;
  std::int64_t next_ = kNever.ps;
  std::vector<std::int64_t> coming_;
};

}  // namespace gasmeter::sim
