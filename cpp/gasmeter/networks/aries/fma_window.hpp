// A rank's window into its card (fast memory access). Stores of a core leave in order.
#pragma once

#include "gasmeter/base/units.hpp"
#include "gasmeter/networks/aries/packet.hpp"
#include "gasmeter/sim/action.hpp"

namespace gasmeter::networks::aries {

class AriesNic;

// Window of one rank, touched on its node only.
class FmaWindow : private sim::Action {
 public:
  explicit FmaWindow(AriesNic& nic) : sim::Action(&FmaWindow::on_due), nic_(nic) {}
  FmaWindow(const FmaWindow&) = delete;
  FmaWindow& operator=(const FmaWindow&) = delete;

  // Add a request. The core has stored it if it fits a packet. Otherwise the core begins to store `request.data`.
  void add(RequestPacket& request, SimTime now);

 private:
  static void on_due(sim::Action& self, SimTime now);
  void go_on(SimTime now);
  void take_request(const RequestPacket& request, SimTime now);
  [[nodiscard]] SimTime due(SimTime now);
  void leave(SimTime now);

  AriesNic& nic_;
  sim::PacketQueue waiting_;
  bool is_taken_ = false;  // the card has taken the first request
  bool is_asked_ = false;  // the next packet has its turn on the path to the card
  SimTime begin_;          // when the card has taken the first request
  SimTime by_core_;        // when the core has stored that packet
  SimTime stored_;         // when that packet, or the one before, is in the card
};

}  // namespace gasmeter::networks::aries
