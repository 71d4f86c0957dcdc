// A unit's path into its node's router.
#pragma once

#include <algorithm>
#include <array>

#include "gasmeter/base/units.hpp"
#include "gasmeter/sim/action.hpp"
#include "gasmeter/sim/engine/steady.hpp"
#include "gasmeter/sim/fabric/packet.hpp"

namespace gasmeter::sim {
class Tracer;
}

namespace gasmeter::networks::extoll {

class ExtollNic;

// Few packets of a unit wait in the router, the others in the unit. Units therefore take turns, and a unit that reads
// memory ahead of a busy link does not fill the router. The unit's path into the router is as wide as a link: packets
// enter one after the other, whichever links they take.
class Outlet : private sim::Action {
 public:
  explicit Outlet(ExtollNic& nic) : sim::Action(&Outlet::on_room), nic_(nic) {}

  void submit(sim::Packet& packet, SimTime now);
  // The last byte of one of its packets leaves the router at `end`.
  void departed(SimTime end);

  [[nodiscard]] const sim::Action& action() const { return *this; }
  // Walk through the state. each(packet) handles the packets that wait in the unit.
  template <class Each>
  void walk(sim::StateWalk& walk, Each&& each) {
    for (sim::Action* waiting = waiting_.front(); waiting != nullptr; waiting = waiting->next) {
      each(static_cast<sim::Packet&>(*waiting));
    }
    std::sort(places_.begin(), places_.end());  // either place may be the next packet's
    for (SimTime& place : places_) walk.free_from(place);
    walk.free_from(free_);
    walk.due(feeds_at_);
  }

  // Name the events for a tracer.
  static void name_steps(sim::Tracer& tracer);

 private:
  static void on_room(sim::Action& self, SimTime now);
  [[nodiscard]] SimTime& first_free();  // the place that is free first
  void let_in(sim::Packet& packet, SimTime& place, SimTime now);
  void feed(SimTime now);
  void feed_later();

  ExtollNic& nic_;
  sim::PacketQueue waiting_;
  std::array<SimTime, 2> places_{};  // when each place is free: of a packet on the link, and of the one behind it
  SimTime free_;                     // when the path is free
  SimTime feeds_at_ = kNever;
  bool feeding_ = false;
};

}  // namespace gasmeter::networks::extoll
