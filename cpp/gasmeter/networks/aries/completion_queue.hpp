// A completion queue: events in host memory, in the order in which the card writes them.
#pragma once

#include <cstddef>

#include "gasmeter/base/units.hpp"
#include "gasmeter/networks/aries/event.hpp"
#include "gasmeter/services/event_queue.hpp"

namespace gasmeter::networks::aries {

// Completion queue of one rank, touched on its node only.
class CompletionQueue {
 public:
  CompletionQueue(sim::Engine& engine, NodeId node, Rank owner, std::uint32_t number, std::uint32_t entries)
      : owner_(owner), number_(number), entries_(entries), written_(engine, node, owner) {}

  // ---- the card's side
  // Write an event. Software sees it at `at`, or with the events before it if those come later, and is woken. Throws
  // BrokenJob if software has left no room for it.
  void write(const CqEvent& event, SimTime at) {
    require_room(event);
    written_.write(event, at);
  }
  // Write an event at this instant. This saves one event of the engine.
  void write_now(const CqEvent& event, SimTime now) {
    require_room(event);
    written_.write_now(event, now);
  }

  // ---- software's side
  [[nodiscard]] bool empty() const { return written_.empty(); }
  [[nodiscard]] CqEvent take() { return written_.take(); }
  [[nodiscard]] Bytes reserved_bytes() const { return entries_ * kCqEntry; }

 private:
  void require_room(const CqEvent& event) const {
    if (written_.size() >= entries_) overrun(event);
  }
  [[noreturn]] void overrun(const CqEvent& event) const;

  Rank owner_;
  std::uint32_t number_;
  std::uint32_t entries_;
  services::EventQueue<CqEvent> written_;
};

}  // namespace gasmeter::networks::aries
