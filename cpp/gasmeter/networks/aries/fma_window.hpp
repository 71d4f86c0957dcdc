// A rank's window into its card (fast memory access): what a core has stored there leaves in order.
#pragma once

#include "gasmeter/base/units.hpp"
#include "gasmeter/networks/aries/packet.hpp"
#include "gasmeter/sim/action.hpp"

namespace gasmeter::networks::aries {

class AriesNic;

// Of one rank, and touched on its node only.
class FmaWindow : private sim::Action {
 public:
  explicit FmaWindow(AriesNic& nic) : sim::Action(&FmaWindow::on_due), nic_(nic) {}
  FmaWindow(const FmaWindow&) = delete;
  FmaWindow& operator=(const FmaWindow&) = delete;

  // What fits a packet has been stored; of what does not, the core begins to store `request.data`.
  void add(RequestPacket& request, SimTime now);

 private:
  static void on_due(sim::Action& self, SimTime now);
  void go_on(SimTime now);
  [[nodiscard]] SimTime due(SimTime now);
  void leave(SimTime now);

  AriesNic& nic_;
  sim::PacketQueue waiting_;
  bool begun_ = false;  // the card has taken the first one's request
  SimTime begin_;       // when it has
  SimTime stored_;      // all that has left, or is about to, is in the card
};

}  // namespace gasmeter::networks::aries
