// One unit's way into its node's router.
#pragma once

#include "gasmeter/base/units.hpp"
#include "gasmeter/sim/action.hpp"
#include "gasmeter/sim/packet.hpp"

namespace gasmeter::networks::extoll {

class ExtollNic;

// Few packets of a unit wait in the router, the others in the unit: units take turns, and one that reads memory ahead
// of a busy link does not fill the router.
class Outlet : private sim::Action {
 public:
  explicit Outlet(ExtollNic& nic) : sim::Action(&Outlet::on_room), nic_(nic) {}

  void submit(sim::Packet& packet, SimTime now);
  // One of its packets leaves the router; its last byte does so at `end`.
  void departed(SimTime end);

 private:
  static constexpr unsigned kInRouter = 2;  // one on the link, one behind it

  static void on_room(sim::Action& self, SimTime now);
  void feed(SimTime now);

  ExtollNic& nic_;
  sim::PacketQueue waiting_;
  unsigned in_router_ = 0;
  bool feeds_later_ = false;
};

}  // namespace gasmeter::networks::extoll
