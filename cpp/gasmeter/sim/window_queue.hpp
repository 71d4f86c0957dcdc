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
#include "gasmeter/sim/posted.hpp"

namespace gasmeter::sim {

// A ring of the next windows, each an unordered list, and a heap for what is further ahead. No order is kept until a
// window opens: most of the cost of a priority queue is never paid.
class WindowQueue {
 public:
  using Window = std::int64_t;
  static constexpr Window kNone = std::numeric_limits<Window>::max();

  // `window` is not before the last one taken.
  GASMETER_INLINE void post(Window window, std::uint64_t place, Action* what, std::uint64_t express) {
    if (GASMETER_LIKELY(window - base_ < kRing)) {
      put(window, place, what, express);
    } else {
      post_far(window, {place, what, express});
    }
  }
  void post(Window window, const Posted& entry) { post(window, entry.place, entry.action, entry.express); }

  // For the window behind the last one taken.
  GASMETER_INLINE void post_next(std::uint64_t place, Action* what, std::uint64_t express) {
    PostedList& list = *next_;
    if (GASMETER_UNLIKELY(list.size() == list.capacity())) grow(list);
    list.append(place, what, express);
  }

  // The earliest window that holds something; kNone where nothing does.
  [[nodiscard]] Window next() {
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

  // Shows all that is posted, earlier windows first in the ring, those further ahead behind it in no order:
  // each(window, entry) says what becomes of it.
  enum class Sift : std::uint8_t { keep, take, stop };
  template <class Each>
  void sift(Each&& show) {
    settle();
    const auto sifted = [&show](auto& list, auto&& window_of, auto&& entry_of) {
      std::size_t kept = 0;
      bool stopped = false;
      for (std::size_t i = 0; i < list.size(); ++i) {
        const Sift what = stopped ? Sift::keep : show(window_of(list[i]), entry_of(list[i]));
        stopped |= what == Sift::stop;
        if (what != Sift::take) list[kept++] = list[i];
      }
      list.resize(kept);
      return !stopped;
    };
    for (Window window = base_; in_ring_ != 0 && window < base_ + kRing; ++window) {
      const auto slot = static_cast<std::size_t>(window) % kRing;
      std::uint64_t& word = used_[slot / 64];
      const std::uint64_t bit = std::uint64_t{1} << (slot % 64);
      if ((word & bit) == 0) continue;
      const bool goes_on =
          sifted(ring_[slot], [window](const Posted&) { return window; }, [](const Posted& entry) { return entry; });
      if (ring_[slot].empty()) {
        word &= ~bit;
        --in_ring_;
      }
      if (!goes_on) return;
    }
    const std::size_t far = far_.size();
    (void)sifted(far_, [](const Far& each) { return each.window; }, [](const Far& each) { return each.entry; });
    if (far_.size() != far) std::make_heap(far_.begin(), far_.end(), Later{});
  }

  // Moves what `window` holds to `list`, in no order; earlier windows are over. `list` is empty, and is handed back by
  // the next call: its memory goes on with another window.
  void take(Window window, PostedList& list) {
    settle();
    base_ = window;
    next_ = &ring_[static_cast<std::size_t>(window + 1) % kRing];
    while (GASMETER_UNLIKELY(!far_.empty() && far_.front().window - base_ < kRing)) fetch_far();
    const auto slot = static_cast<std::size_t>(window) % kRing;
    if ((used_[slot / 64] >> (slot % 64) & 1U) == 0) return;
    used_[slot / 64] &= ~(std::uint64_t{1} << (slot % 64));
    --in_ring_;
    if (GASMETER_UNLIKELY(list.capacity() > kSmall)) give_spare(std::exchange(list, {}));
    list.swap(ring_[slot]);
  }
  // A list that nobody needs, whatever it holds.
  [[nodiscard]] PostedList take_spare() {
    if (spare_.empty()) return {};
    PostedList list = std::move(spare_.back());
    spare_.pop_back();
    return list;
  }
  void give_spare(PostedList list) { spare_.push_back(std::move(list)); }

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

  // The next window's list is not looked at while it grows.
  void settle() {
    if (!next_->empty()) use(static_cast<std::size_t>(next_ - ring_.data()));
  }
  GASMETER_INLINE void use(std::size_t slot) {
    const std::uint64_t bit = std::uint64_t{1} << (slot % 64);
    if ((used_[slot / 64] & bit) != 0) return;
    used_[slot / 64] |= bit;
    ++in_ring_;
  }
  GASMETER_INLINE void put(Window window, std::uint64_t place, Action* what, std::uint64_t express) {
    const auto slot = static_cast<std::size_t>(window) % kRing;
    PostedList& list = ring_[slot];
    use(slot);
    if (GASMETER_UNLIKELY(list.size() == list.capacity())) grow(list);
    list.append(place, what, express);
  }

  // Long lists are few and go round, so that not every window keeps one.
  GASMETER_NOINLINE void grow(PostedList& list) {
    if (list.size() < kSmall || spare_.empty() || spare_.back().capacity() <= list.size()) {
      list.reserve(std::max<std::size_t>(8, 2 * list.size()));
      return;
    }
    list.move_to(spare_.back());
    spare_.pop_back();
  }

  GASMETER_NOINLINE void post_far(Window window, const Posted& entry) {
    far_.push_back({window, entry});
    std::push_heap(far_.begin(), far_.end(), Later{});
  }
  GASMETER_NOINLINE void fetch_far() {
    std::pop_heap(far_.begin(), far_.end(), Later{});
    const auto& [window, entry] = far_.back();
    put(window, entry.place, entry.action, entry.express);
    far_.pop_back();
  }

  Window base_ = 0;
  std::size_t in_ring_ = 0;  // windows that hold something
  std::array<std::uint64_t, kWords> used_{};
  std::array<PostedList, kRing> ring_;
  PostedList* next_ = &ring_[1];
  std::vector<Far> far_;
  std::vector<PostedList> spare_;
};

}  // namespace gasmeter::sim
