// What is posted for windows of time that are not open yet.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "gasmeter/sim/action.hpp"

namespace gasmeter::sim {

// An entry of a window. `place` orders by node, then by time in the window.
struct Posted {
  std::uint64_t place;
  Tie tie;
  Action* action;

  [[nodiscard]] static constexpr std::uint64_t at(NodeId node, std::int64_t offset_ps) {
    return (static_cast<std::uint64_t>(index(node)) << 32U) | static_cast<std::uint64_t>(offset_ps);
  }
  [[nodiscard]] constexpr std::uint32_t node() const { return static_cast<std::uint32_t>(place >> 32U); }
  [[nodiscard]] constexpr std::int64_t offset() const { return static_cast<std::int64_t>(place & 0xffffffffU); }
};

// A ring of the next windows, each an unordered list, and a heap for what is further ahead. No order is kept until a
// window opens: most of the cost of a priority queue is never paid.
class WindowQueue {
 public:
  using Window = std::int64_t;
  static constexpr Window kNone = std::numeric_limits<Window>::max();

  // `window` is not before the last one taken.
  void post(Window window, const Posted& entry) {
    if (window - base_ < kRing) {
      put(window, entry);
    } else {
      far_.push_back({window, entry});
      std::push_heap(far_.begin(), far_.end(), later);
    }
  }

  // The earliest window that holds something; kNone where nothing does.
  [[nodiscard]] Window next() const {
    if (in_ring_ != 0) {
      const auto first = static_cast<std::size_t>(base_) % kRing;
      for (std::size_t word = first / 64, steps = 0; steps <= kWords; ++steps, word = (word + 1) % kWords) {
        std::uint64_t bits = used_[word];
        if (steps == 0) bits &= ~std::uint64_t{0} << (first % 64);
        if (steps == kWords) bits &= ~(~std::uint64_t{0} << (first % 64));
        if (bits == 0) continue;
        const std::size_t slot = word * 64 + static_cast<std::size_t>(std::countr_zero(bits));
        return base_ + static_cast<Window>((slot + kRing - first) % kRing);
      }
    }
    return far_.empty() ? kNone : far_.front().window;
  }

  // What `window` holds, in no order; earlier windows are over. The list goes back by recycle().
  [[nodiscard]] std::vector<Posted> take(Window window) {
    base_ = window;
    while (!far_.empty() && far_.front().window - base_ < kRing) {
      std::pop_heap(far_.begin(), far_.end(), later);
      put(far_.back().window, far_.back().entry);
      far_.pop_back();
    }
    const auto slot = static_cast<std::size_t>(window) % kRing;
    if ((used_[slot / 64] >> (slot % 64) & 1U) != 0) {
      used_[slot / 64] &= ~(std::uint64_t{1} << (slot % 64));
      --in_ring_;
    }
    return std::exchange(ring_[slot], {});
  }
  void recycle(std::vector<Posted>&& list) {
    if (spare_.size() >= kSpare || list.capacity() == 0) return;
    list.clear();
    spare_.push_back(std::move(list));
  }

 private:
  static constexpr Window kRing = 1024;
  static constexpr std::size_t kWords = kRing / 64;
  static constexpr std::size_t kSpare = 32;  // lists kept for reuse

  struct Far {
    Window window;
    Posted entry;
  };
  static bool later(const Far& a, const Far& b) { return a.window > b.window; }

  void put(Window window, const Posted& entry) {
    const auto slot = static_cast<std::size_t>(window) % kRing;
    std::vector<Posted>& list = ring_[slot];
    if (list.empty()) {
      used_[slot / 64] |= std::uint64_t{1} << (slot % 64);
      ++in_ring_;
      if (list.capacity() == 0 && !spare_.empty()) {
        list = std::move(spare_.back());
        spare_.pop_back();
      }
    }
    list.push_back(entry);
  }

  Window base_ = 0;
  std::size_t in_ring_ = 0;  // windows that hold something
  std::array<std::uint64_t, kWords> used_{};
  std::array<std::vector<Posted>, kRing> ring_;
  std::vector<Far> far_;
  std::vector<std::vector<Posted>> spare_;
};

}  // namespace gasmeter::sim
