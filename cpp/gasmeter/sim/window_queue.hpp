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
#include "gasmeter/sim/route.hpp"

namespace gasmeter::sim {

// What comes over a link and is not to be touched before its way ends, as a word: it is built in registers, since parts
// of a word that have just been stored one by one cannot be read as a whole at once.
class Express {
 public:
  static constexpr std::uint64_t kNone = ~std::uint64_t{0};  // an action
  static constexpr Hop kEnd{7, 1};

  explicit constexpr Express(std::uint64_t word) : word_(word) {}
  // By which port of the node it comes, over which channel of the link; the output it takes there, or kEnd, and what is
  // left of its way behind that (WayCode).
  Express(std::uint32_t port, std::uint32_t channel, const Hop& hop, std::uint64_t way, std::uint16_t bytes)
      : word_(word_of(port, channel, hop, way, std::uint64_t{bytes} << kWayBits)) {}

  // The same over another link.
  [[nodiscard]] Express over(std::uint32_t port, std::uint32_t channel, const Hop& hop, std::uint64_t way) const {
    return Express(word_of(port, channel, hop, way, word_ & (std::uint64_t{0xffff} << kWayBits)));
  }

  [[nodiscard]] std::uint64_t word() const { return word_; }
  [[nodiscard]] std::uint64_t way() const { return word_ & ((std::uint64_t{1} << kWayBits) - 1); }
  [[nodiscard]] std::uint16_t bytes() const { return static_cast<std::uint16_t>(word_ >> kWayBits); }
  [[nodiscard]] std::uint32_t port() const { return static_cast<std::uint32_t>(word_ >> 56U) & 7U; }
  [[nodiscard]] std::uint32_t channel() const { return static_cast<std::uint32_t>(word_ >> 59U) & 1U; }
  [[nodiscard]] Hop hop() const {
    return {static_cast<std::uint32_t>(word_ >> 60U) & 7U, static_cast<std::uint32_t>(word_ >> 63U)};
  }
  [[nodiscard]] bool goes_on() const { return (word_ >> 60U & 7U) != kEnd.port; }

 private:
  static constexpr unsigned kWayBits = 40;
  // `bytes`: in their place.
  [[nodiscard]] static std::uint64_t word_of(std::uint32_t port, std::uint32_t channel, const Hop& hop,
                                             std::uint64_t way, std::uint64_t bytes) {
    return way | bytes | std::uint64_t{port} << 56U | std::uint64_t{channel} << 59U | std::uint64_t{hop.port} << 60U |
           std::uint64_t{hop.channel} << 63U;
  }

  std::uint64_t word_;
};

// An entry of a window. `place` orders by node, then by time in the window; then the tie does.
struct Posted {
  Posted() = default;
  Posted(std::uint64_t at_place, Action* what, std::uint64_t as_express = Express::kNone)
      : place(at_place), action(what), express(as_express) {}

  std::uint64_t place = 0;
  Action* action = nullptr;  // or what comes express
  std::uint64_t express = Express::kNone;

  [[nodiscard]] static constexpr std::uint64_t at(NodeId node, std::int64_t offset_ps) {
    return (static_cast<std::uint64_t>(index(node)) << 32U) | static_cast<std::uint64_t>(offset_ps);
  }
  [[nodiscard]] constexpr std::uint32_t node() const { return static_cast<std::uint32_t>(place >> 32U); }
  [[nodiscard]] constexpr std::int64_t offset() const { return static_cast<std::int64_t>(place & 0xffffffffU); }
  [[nodiscard]] constexpr bool is_express() const { return express != Express::kNone; }
};

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
    std::vector<Posted>& list = *next_;
    if (GASMETER_UNLIKELY(list.size() == list.capacity())) grow(list);
    list.emplace_back(place, what, express);  // where it stays: a copy would wait for what has just been stored
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
  void take(Window window, std::vector<Posted>& list) {
    settle();
    base_ = window;
    next_ = &ring_[static_cast<std::size_t>(window + 1) % kRing];
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
    std::vector<Posted>& list = ring_[slot];
    use(slot);
    if (GASMETER_UNLIKELY(list.size() == list.capacity())) grow(list);
    list.emplace_back(place, what, express);
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
    const auto& [window, entry] = far_.back();
    put(window, entry.place, entry.action, entry.express);
    far_.pop_back();
  }

  Window base_ = 0;
  std::size_t in_ring_ = 0;  // windows that hold something
  std::array<std::uint64_t, kWords> used_{};
  std::array<std::vector<Posted>, kRing> ring_;
  std::vector<Posted>* next_ = &ring_[1];
  std::vector<Far> far_;
  std::vector<std::vector<Posted>> spare_;
};

}  // namespace gasmeter::sim
