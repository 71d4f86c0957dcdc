// Events posted for windows of time that are not open yet.
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
#include "gasmeter/sim/engine/posted.hpp"

namespace gasmeter::sim {

// A ring of the next windows, each an unordered list, and a heap for what is further ahead. No order is kept until a
// window opens: most of the cost of a priority queue is never paid.
class WindowQueue {
 public:
  using Window = std::int64_t;
  static constexpr Window kNone = std::numeric_limits<Window>::max();

  // Post an entry. `window` is not before the last window taken.
  GASMETER_INLINE void post(Window window, std::uint64_t place, Action* what, std::uint64_t express) {
    if (GASMETER_LIKELY(window - base_ < kRing)) {
      put(window, place, what, express);
    } else {
      post_far(window, {place, what, express});
    }
  }
  void post(Window window, const Posted& entry) { post(window, entry.place, entry.action, entry.express); }

  // Post an entry for the window behind the last one taken.
  GASMETER_INLINE void post_next(std::uint64_t place, Action* what, std::uint64_t express) {
    Posted* at = next_end_;
    if (GASMETER_UNLIKELY(PostedChunk::is_end(at))) at = extend_next();
    ::new (static_cast<void*>(at)) Posted(place, what, express);
    next_end_ = at + 1;
  }

  // Return the earliest window that holds something; kNone where nothing does.
  [[nodiscard]] GASMETER_INLINE Window next() {
    // Most often something is posted for the next window, and nothing more for the last one.
    const auto last = static_cast<std::size_t>(base_) % kRing;
    if (GASMETER_LIKELY(next_end_ != nullptr && !is_used(last))) return base_ + 1;
    return first_used();
  }

  // Show all posted entries: in the ring earlier windows first, then those further ahead in no order. each(window,
  // entry) says what becomes of an entry.
  enum class Sift : std::uint8_t { keep, take, stop };
  template <class Each>
  void sift(Each&& each) {
    settle();
    bool stopped = false;
    const auto is_kept = [&](Window window, const Posted& entry) {
      if (stopped) return true;
      const Sift what = each(window, entry);
      stopped = what == Sift::stop;
      return what != Sift::take;
    };
    for (Window window = base_; in_ring_ != 0 && window < base_ + kRing; ++window) {
      const auto slot = static_cast<std::size_t>(window) % kRing;
      if (!is_used(slot)) continue;
      sift(slot, [&](const Posted& entry) { return is_kept(window, entry); });
      if (stopped) break;
    }
    next_end_ = ring_[next_slot()].end;
    if (stopped) return;
    if (std::erase_if(far_, [&](const Far& far) { return !is_kept(far.window, far.entry); }) != 0) {
      std::make_heap(far_.begin(), far_.end(), Later{});
    }
  }

  // Take the entries of `window`, in no order, to be given back; earlier windows are over.
  [[nodiscard]] GASMETER_INLINE PostedList take(Window window) {
    settle();
    base_ = window;
    while (GASMETER_UNLIKELY(!far_.empty() && far_.front().window - base_ < kRing)) fetch_far();
    next_end_ = ring_[next_slot()].end;
    const auto slot = static_cast<std::size_t>(window) % kRing;
    if (!is_used(slot)) return {};
    used_[slot / 64] &= ~(std::uint64_t{1} << (slot % 64));
    --in_ring_;
    return std::exchange(ring_[slot], {});
  }
  void give(const PostedList& taken) { chunks_.give(taken); }

 private:
  static constexpr Window kRing = 1024;
  static constexpr std::size_t kWords = kRing / 64;

  [[nodiscard]] bool is_used(std::size_t slot) const { return (used_[slot / 64] >> (slot % 64) & 1U) != 0; }
  [[nodiscard]] GASMETER_NOINLINE Window first_used() {
    settle();
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

  struct Far {
    Window window;
    Posted entry;
  };
  struct Later {
    bool operator()(const Far& a, const Far& b) const { return a.window > b.window; }
  };

  [[nodiscard]] std::size_t next_slot() const { return static_cast<std::size_t>(base_ + 1) % kRing; }
  // Store the end of the next window's list, which only next_end_ holds while the list grows.
  void settle() {
    if (next_end_ == nullptr) return;
    ring_[next_slot()].end = next_end_;
    use(next_slot());
  }
  GASMETER_NOINLINE Posted* extend_next() {
    PostedList& list = ring_[next_slot()];
    list.end = next_end_;
    return chunks_.extend(list);
  }
  GASMETER_INLINE void use(std::size_t slot) {
    if (is_used(slot)) return;
    used_[slot / 64] |= std::uint64_t{1} << (slot % 64);
    ++in_ring_;
  }
  GASMETER_INLINE void put(Window window, std::uint64_t place, Action* what, std::uint64_t express) {
    if (window == base_ + 1) return post_next(place, what, express);
    const auto slot = static_cast<std::size_t>(window) % kRing;
    PostedList& list = ring_[slot];
    if (GASMETER_UNLIKELY(PostedChunk::is_end(list.end))) extend(slot);
    ::new (static_cast<void*>(list.end++)) Posted(place, what, express);
  }
  GASMETER_NOINLINE void extend(std::size_t slot) {
    ring_[slot].end = chunks_.extend(ring_[slot]);
    use(slot);
  }

  // Sift a window that holds something, settled.
  template <class IsKept>
  void sift(std::size_t slot, IsKept&& is_kept) {
    PostedList& list = ring_[slot];
    PostedChunk* chunk = list.first;  // chunk to which kept entries go
    Posted* to = chunk->entries.data();
    std::size_t kept = 0;
    list.each_chunk([&](const Posted* entries, std::size_t count) {
      for (std::size_t i = 0; i < count; ++i) {
        const Posted entry = entries[i];
        if (!is_kept(entry)) continue;
        if (kept != 0 && PostedChunk::is_end(to)) {
          chunk = chunk->next;
          to = chunk->entries.data();
        }
        *to++ = entry;
        ++kept;
      }
    });
    if (kept == 0) {
      chunks_.give(std::exchange(list, {}));
      used_[slot / 64] &= ~(std::uint64_t{1} << (slot % 64));
      --in_ring_;
    } else {
      list.end = to;
      chunks_.cut(list);
    }
  }

  GASMETER_NOINLINE void post_far(Window window, const Posted& entry) {
    far_.push_back({window, entry});
    std::push_heap(far_.begin(), far_.end(), Later{});
  }
  GASMETER_NOINLINE void fetch_far() {
    std::pop_heap(far_.begin(), far_.end(), Later{});
    const auto& [window, entry] = far_.back();
    const auto slot = static_cast<std::size_t>(window) % kRing;
    PostedList& list = ring_[slot];
    if (PostedChunk::is_end(list.end)) extend(slot);
    *list.end++ = entry;
    far_.pop_back();
  }

  Posted* next_end_ = nullptr;
  Window base_ = 0;
  std::size_t in_ring_ = 0;  // windows that hold something
  std::array<std::uint64_t, kWords> used_{};
  std::array<PostedList, kRing> ring_;
  std::vector<Far> far_;
  PostedChunks chunks_;
};

}  // namespace gasmeter::sim
