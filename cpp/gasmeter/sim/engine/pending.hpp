// Events that the running node has posted to itself inside its window.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "gasmeter/base/platform.hpp"
#include "gasmeter/sim/action.hpp"

namespace gasmeter::sim {

struct Pending {
  std::int64_t at;
  Tie tie;
  Action* action;
  [[nodiscard]] bool before(const Pending& other) const { return at != other.at ? at < other.at : tie < other.tie; }
};

// The earliest event comes first. A unit of a card, a timer and a rank have one pending event each. Most often they are
// a handful, and a new event comes behind most of them. A few are kept in order, more as a heap.
class PendingEvents {
 public:
  PendingEvents() { reserve(kPlaces); }
  PendingEvents(const PendingEvents&) = delete;
  PendingEvents& operator=(const PendingEvents&) = delete;
  ~PendingEvents() = default;

  [[nodiscard]] bool empty() const { return first_ == last_; }
  [[nodiscard]] const Pending& front() const { return *first_; }
  [[nodiscard]] std::span<const Pending> all() const { return {first_, last_}; }  // in no order

  GASMETER_INLINE void push(const Pending& entry) {
    if (GASMETER_UNLIKELY(last_ >= few_end_)) return push_many(entry);
    Pending* at = last_++;
    for (; at != first_ && entry.before(at[-1]); --at) *at = at[-1];
    *at = entry;
  }
  GASMETER_INLINE Pending pop() {
    if (GASMETER_UNLIKELY(is_heap())) return pop_of_many();
    const Pending entry = *first_++;
    if (empty()) first_ = last_ = places_.data();
    return entry;
  }
  void clear() {
    first_ = last_ = places_.data();
    few_end_ = first_ + kPlaces;
  }

 private:
  static constexpr std::size_t kPlaces = 48;  // for a few events and those whose turn has been
  static constexpr std::size_t kFew = 24;

  // This is an object, not a function, so that it is compiled into the heap's loops.
  struct Later {
    bool operator()(const Pending& a, const Pending& b) const { return b.before(a); }
  };

  [[nodiscard]] bool is_heap() const { return few_end_ == places_.data(); }
  // Move the events to `count` places. They begin at the first place, and are a heap if there are more places than for
  // a few.
  void reserve(std::size_t count) {
    std::vector<Pending> places(count);
    last_ = std::copy(first_, last_, places.data());
    places_ = std::move(places);
    first_ = places_.data();
    few_end_ = first_ + (count > kPlaces ? 0 : kPlaces);
  }
  GASMETER_NOINLINE void push_many(const Pending& entry) {
    const auto count = static_cast<std::size_t>(last_ - first_);
    if (!is_heap() && count <= kFew) {
      last_ = std::copy(first_, last_, places_.data());
      first_ = places_.data();
      return push(entry);
    }
    if (last_ == places_.data() + places_.size()) reserve(2 * places_.size());
    few_end_ = places_.data();  // events in order are a heap
    *last_++ = entry;
    std::push_heap(first_, last_, Later{});
  }
  GASMETER_NOINLINE Pending pop_of_many() {
    std::pop_heap(first_, last_, Later{});
    const Pending entry = *--last_;
    if (static_cast<std::size_t>(last_ - first_) == kFew) {
      std::sort(first_, last_, [](const Pending& a, const Pending& b) { return a.before(b); });
      few_end_ = places_.data() + kPlaces;
    }
    return entry;
  }

  std::vector<Pending> places_;  // at least kPlaces
  Pending* first_ = nullptr;     // the first pending event
  Pending* last_ = nullptr;
  Pending* few_end_ = nullptr;  // end of a few events; the first place of a heap
};

}  // namespace gasmeter::sim
