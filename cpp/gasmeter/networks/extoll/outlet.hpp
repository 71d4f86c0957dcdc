// One unit's way into its node's router.
#pragma once

#include <algorithm>
#include <array>

#include "gasmeter/base/units.hpp"
#include "gasmeter/sim/action.hpp"
#include "gasmeter/sim/packet.hpp"
#include "gasmeter/sim/steady.hpp"

namespace gasmeter::sim {
class Tracer;
}

namespace gasmeter::networks::extoll {

class ExtollNic;

// Few packets of a unit wait in the router, the others in the unit: units take turns, and one that reads memory ahead
// of a busy link does not fill the router. The unit's path into the router is as wide as a link: one packet enters
// after the other, whichever links they take.
class Outlet : private sim::Action {
 public:
  explicit Outlet(ExtollNic& nic) : sim::Action(&Outlet::on_room), nic_(nic) {}

  void submit(sim::Packet& packet, SimTime now);
  // It is known when one of its packets leaves the router: its last byte does so at `end`.
  void departed(SimTime end);

  [[nodiscard]] const sim::Action& action() const { return *this; }
  // each(packet) sees to those that wait in the unit.
  template <class Each>
  void walk(sim::StateWalk& walk, Each&& each) {
    for (sim::Action* waiting = waiting_.front(); waiting != nullptr; waiting = waiting->next) {
      each(static_cast<sim::Packet&>(*waiting));
    }
    std::sort(places_.begin(), places_.end());  // either may be the next one's
    for (SimTime& place : places_) walk.free_from(place);
    walk.free_from(free_);
    walk.due(feeds_at_);
  }

  // What its events are, for a tracer.
  static void name_steps(sim::Tracer& tracer);

 private:
  static void on_room(sim::Action& self, SimTime now);
  [[nodiscard]] SimTime& first_free();  // of the places
  void let_in(sim::Packet& packet, SimTime& place, SimTime now);
  void feed(SimTime now);
  void feed_later();

  ExtollNic& nic_;
  sim::PacketQueue waiting_;
  std::array<SimTime, 2> places_{};  // when each is free: of a packet on the link, and of one behind it
  SimTime free_;                     // when the path is
  SimTime feeds_at_ = kNever;
  bool feeding_ = false;
};

}  // namespace gasmeter::networks::extoll
