// Pending device events in the order in which they happen.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "gasmeter/base/units.hpp"

namespace gasmeter::sim {

// What acts in virtual time on the main stack: networks, timers.
class Device {
 public:
  // `subject` is what was posted with the event.
  virtual void fire(SimTime now, void* subject) = 0;

 protected:
  Device() = default;
  Device(const Device&) = default;
  Device& operator=(const Device&) = default;
  ~Device() = default;
};

// Something that will happen. The device and the subject must stay alive until then.
struct Event {
  Device* device = nullptr;
  void* subject = nullptr;
};

// Ordered by time, equal times by insertion. Holds its entries by value: no allocation once it has grown.
class EventQueue {
 public:
  [[nodiscard]] bool empty() const { return heap_.empty(); }
  // kNever where nothing is pending.
  [[nodiscard]] SimTime earliest() const { return heap_.empty() ? kNever : heap_.front().at; }

  void push(SimTime at, Event event) {
    heap_.push_back({at, next_tie_++, event});
    std::push_heap(heap_.begin(), heap_.end(), later);
  }
  Event pop() {
    std::pop_heap(heap_.begin(), heap_.end(), later);
    const Event event = heap_.back().event;
    heap_.pop_back();
    return event;
  }

 private:
  struct Entry {
    SimTime at;
    std::uint64_t tie;
    Event event;
  };
  static bool later(const Entry& a, const Entry& b) { return a.at != b.at ? a.at > b.at : a.tie > b.tie; }

  std::vector<Entry> heap_;
  std::uint64_t next_tie_ = 0;
};

}  // namespace gasmeter::sim
