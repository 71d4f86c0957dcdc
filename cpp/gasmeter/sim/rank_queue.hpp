// Ranks that will run again, in the order of their clocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "gasmeter/base/units.hpp"

namespace gasmeter::sim {

// Ordered by time, equal times by rank: never by who came first, since a rank that runs ahead comes early. Each rank is
// in it at most once and can be moved.
class RankQueue {
 public:
  struct Entry {
    SimTime at;
    std::uint32_t rank;
    constexpr auto operator<=>(const Entry&) const = default;
  };

  explicit RankQueue(unsigned ranks) : place_(ranks, kAbsent) { heap_.reserve(ranks); }

  [[nodiscard]] bool empty() const { return heap_.empty(); }
  [[nodiscard]] const Entry& front() const { return heap_.front(); }
  // True if a queued rank comes before `entry`.
  [[nodiscard]] bool any_before(const Entry& entry) const { return !heap_.empty() && heap_.front() < entry; }

  // Queues the rank, or brings it forward; a rank that is queued earlier stays there.
  void bring_forward(const Entry& entry) {
    std::size_t at = place_[entry.rank];
    if (at == kAbsent) {
      at = heap_.size();
      heap_.push_back(entry);
    } else if (!(entry < heap_[at])) {
      return;
    }
    rise(at, entry);
  }

  Entry pop() {
    const Entry first = heap_.front();
    place_[first.rank] = kAbsent;
    const Entry last = heap_.back();
    heap_.pop_back();
    if (!heap_.empty()) sink(last);
    return first;
  }

  void clear() {
    while (!empty()) pop();
  }

 private:
  static constexpr std::size_t kAbsent = std::numeric_limits<std::size_t>::max();

  void put(std::size_t at, const Entry& entry) {
    heap_[at] = entry;
    place_[entry.rank] = at;
  }
  void rise(std::size_t at, const Entry& entry) {
    while (at != 0 && entry < heap_[(at - 1) / 2]) {
      put(at, heap_[(at - 1) / 2]);
      at = (at - 1) / 2;
    }
    put(at, entry);
  }
  void sink(const Entry& entry) {
    std::size_t at = 0;
    for (std::size_t child = 1; child < heap_.size(); child = 2 * at + 1) {
      if (child + 1 < heap_.size() && heap_[child + 1] < heap_[child]) ++child;
      if (!(heap_[child] < entry)) break;
      put(at, heap_[child]);
      at = child;
    }
    put(at, entry);
  }

  std::vector<Entry> heap_;
  std::vector<std::size_t> place_;  // of each rank in heap_
};

}  // namespace gasmeter::sim
