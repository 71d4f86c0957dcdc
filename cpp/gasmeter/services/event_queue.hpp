// Entries that a modelled device writes into host memory for one rank's software. Software sees them in order, each at
// its time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "gasmeter/base/units.hpp"
#include "gasmeter/sim/action.hpp"
#include "gasmeter/sim/engine/engine.hpp"

namespace gasmeter::services {

// The queue belongs to one rank. Only code on that rank's node may touch it.
template <class Entry>
class EventQueue : private sim::Action {
 public:
  EventQueue(sim::Engine& engine, NodeId node, Rank owner)
      : sim::Action(&EventQueue::on_due), engine_(engine), node_(node), owner_(owner) {}

  // ---- device's side
  // Write an entry. Software sees it at `at`, or together with the entry before if that is later, and is then woken.
  void write(const Entry& entry, SimTime at) {
    const bool waits = seen_ != entries_.size();
    entries_.push_back({entry, waits ? std::max(at, entries_.back().at) : at});
    if (!waits) engine_.post(node_, node_, at, *this);
  }
  // Write an entry at this instant, which saves an event.
  void write_now(const Entry& entry, SimTime now) {
    if (seen_ != entries_.size()) return write(entry, now);
    entries_.push_back({entry, now});
    ++seen_;
    engine_.wake(owner_, now);
  }
  // Return the number of entries, including those that software does not see yet.
  [[nodiscard]] std::size_t size() const { return entries_.size() - first_; }

  // ---- software's side
  [[nodiscard]] bool empty() const { return first_ == seen_; }
  [[nodiscard]] Entry take() {
    const Entry entry = entries_[first_].entry;
    if (++first_ == entries_.size()) {
      entries_.clear();
      first_ = seen_ = 0;
    } else if (first_ >= 1024 && first_ * 2 >= entries_.size()) {
      // A queue that is never quite empty must not grow for ever.
      entries_.erase(entries_.begin(), entries_.begin() + static_cast<std::ptrdiff_t>(first_));
      seen_ -= first_;
      first_ = 0;
    }
    return entry;
  }

 private:
  struct Written {
    Entry entry;
    SimTime at;
  };

  static void on_due(sim::Action& self, SimTime now) {
    auto& queue = static_cast<EventQueue&>(self);
    while (queue.seen_ != queue.entries_.size() && queue.entries_[queue.seen_].at <= now) ++queue.seen_;
    if (queue.seen_ != queue.entries_.size()) {
      queue.engine_.post(queue.node_, queue.node_, queue.entries_[queue.seen_].at, queue);
    }
    queue.engine_.wake(queue.owner_, now);
  }

  sim::Engine& engine_;
  NodeId node_;
  Rank owner_;
  std::vector<Written> entries_;  // entries before first_ have been taken
  std::size_t first_ = 0;
  std::size_t seen_ = 0;  // software sees the entries before this index
};

}  // namespace gasmeter::services
