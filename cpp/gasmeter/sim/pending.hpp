// What the node that runs has still to do in its window, beside what the window brought.
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

// The earliest first. A unit of a card, a timer, a rank have one event each that is pending: most often they are a
// handful, and what is posted comes behind most of them. A few are kept in order, more as a heap.
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
  static constexpr std::size_t kPlaces = 48;  // of a few, with those whose turn has been
  static constexpr std::size_t kFew = 24;

  // An object, not a function: it is compiled into the heap's loops.
  struct Later {
    bool operator()(const Pending& a, const Pending& b) const { return b.before(a); }
  };

  [[nodiscard]] bool is_heap() const { return few_end_ == places_.data(); }
  // What there is begins at the first place then, and is a heap if there are more places than for a few.
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
    few_end_ = places_.data();  // what is in order is a heap
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

  std::vector<Pending> places_;  // kPlaces or more
  Pending* first_ = nullptr;     // what is pending
  Pending* last_ = nullptr;
  Pending* few_end_ = nullptr;  // where a few end; the first place of a heap
};

}  // namespace gasmeter::sim
