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
  void take_request(const RequestPacket& request, SimTime now);
  [[nodiscard]] SimTime due(SimTime now);
  void leave(SimTime now);

  AriesNic& nic_;
  sim::PacketQueue waiting_;
  bool is_taken_ = false;  // by the card: the first one
  bool is_asked_ = false;  // for its next packet's way to the card
  SimTime begin_;          // when the card has taken it
  SimTime by_core_;        // when the core has stored that packet
  SimTime stored_;         // when it is in the card, or the one before is
};

}  // namespace gasmeter::networks::aries
