// What is posted for windows of time that are not open yet.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "gasmeter/base/platform.hpp"
#include "gasmeter/sim/action.hpp"

namespace gasmeter::sim {

// An entry of a window. `place` orders by node, then by time in the window; then the action's tie does.
struct Posted {
  std::uint64_t place;
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
  GASMETER_INLINE void post(Window window, const Posted& entry) {
    if (GASMETER_LIKELY(window - base_ < kRing)) {
      put(window, entry);
    } else {
      post_far(window, entry);
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

  // Moves what `window` holds to `list`, in no order; earlier windows are over. `list` is empty, and is handed back by
  // the next call: its memory goes on with another window.
  void take(Window window, std::vector<Posted>& list) {
    base_ = window;
    while (GASMETER_UNLIKELY(!far_.empty() && far_.front().window - base_ < kRing)) fetch_far();
    const auto slot = static_cast<std::size_t>(window) % kRing;
    if ((used_[slot / 64] >> (slot % 64) & 1U) == 0) return;
    used_[slot / 64] &= ~(std::uint64_t{1} << (slot % 64));
    --in_ring_;
    if (GASMETER_UNLIKELY(list.capacity() > kSmall)) {
      spare_.push_back(std::move(list));
      list = {};
    }
    list.swap(ring_[slot]);
  }

 private:
  static constexpr Window kRing = 1024;
  static constexpr std::size_t kWords = kRing / 64;
  static constexpr std::size_t kSmall = 8;  // entries; longer lists are not kept by their window

  struct Far {
    Window window;
    Posted entry;
  };
  struct Later {
    bool operator()(const Far& a, const Far& b) const { return a.window > b.window; }
  };

  GASMETER_INLINE void put(Window window, const Posted& entry) {
    const auto slot = static_cast<std::size_t>(window) % kRing;
    std::vector<Posted>& list = ring_[slot];
    if (list.empty()) {
      used_[slot / 64] |= std::uint64_t{1} << (slot % 64);
      ++in_ring_;
    }
    if (GASMETER_UNLIKELY(list.size() == list.capacity())) grow(list);
    list.push_back(entry);
  }

  // Long lists are few and go round, so that not every window keeps one.
  GASMETER_NOINLINE void grow(std::vector<Posted>& list) {
    if (list.size() < kSmall || spare_.empty() || spare_.back().capacity() <= list.size()) {
      list.reserve(std::max<std::size_t>(8, 2 * list.size()));
      return;
    }
    std::vector<Posted>& longer = spare_.back();
    longer.assign(list.begin(), list.end());
    list = std::move(longer);
    spare_.pop_back();
  }

  GASMETER_NOINLINE void post_far(Window window, const Posted& entry) {
    far_.push_back({window, entry});
    std::push_heap(far_.begin(), far_.end(), Later{});
  }
  GASMETER_NOINLINE void fetch_far() {
    std::pop_heap(far_.begin(), far_.end(), Later{});
    put(far_.back().window, far_.back().entry);
    far_.pop_back();
  }

  Window base_ = 0;
  std::size_t in_ring_ = 0;  // windows that hold something
  std::array<std::uint64_t, kWords> used_{};
  std::array<std::vector<Posted>, kRing> ring_;
  std::vector<Far> far_;
  std::vector<std::vector<Posted>> spare_;
};

}  // namespace gasmeter::sim
