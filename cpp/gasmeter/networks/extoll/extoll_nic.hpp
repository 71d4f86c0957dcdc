// The card of one node: its units, and the one data path between the units and the router.
#pragma once

#include <memory>
#include <vector>

#include "gasmeter/base/platform.hpp"
#include "gasmeter/networks/extoll/host_link.hpp"
#include "gasmeter/networks/extoll/notification.hpp"
#include "gasmeter/networks/extoll/parameters.hpp"
#include "gasmeter/networks/extoll/rma.hpp"
#include "gasmeter/networks/extoll/velo.hpp"
#include "gasmeter/sim/engine/engine.hpp"

namespace gasmeter::networks::extoll {

class ExtollNetwork;
class ExtollPort;

class alignas(kNoSharing) ExtollNic {
 public:
  ExtollNic(ExtollNetwork& network, NodeId node);
  ExtollNic(const ExtollNic&) = delete;
  ExtollNic& operator=(const ExtollNic&) = delete;

  [[nodiscard]] NodeId node() const { return node_; }
  [[nodiscard]] ExtollNetwork& network() const { return network_; }
  [[nodiscard]] sim::Engine& engine() const;
  [[nodiscard]] const ExtollParameters& parameters() const;
  [[nodiscard]] Velo& velo() { return velo_; }
  [[nodiscard]] RmaReader& requester() { return requester_; }
  [[nodiscard]] RmaCompleter& completer() { return completer_; }
  // Walk through the state of the parts that take packets in.
  void walk_arrivals(sim::StateWalk& walk);
  // HyperTransport, one link in each direction.
  [[nodiscard]] HostLink& to_card() { return to_card_; }
  [[nodiscard]] HostLink& to_host() { return to_host_; }
  [[nodiscard]] NotificationWriter& notifications() { return notifications_; }
  [[nodiscard]] GASMETER_INLINE ExtollPort& port_of(unsigned process) const { return *ports_[process]; }
  // Call this before ranks run.
  void add_port(ExtollPort& port) { ports_.push_back(&port); }

  [[nodiscard]] VeloPacket& take_velo();
  [[nodiscard]] RmaPacket& take_rma();
  void give(VeloPacket& packet);
  void give(RmaPacket& packet);

  // --- the router's side
  // Return how long a packet takes over a unit's own path. That path is as wide as a link and carries all bytes but the
  // link's header.
  [[nodiscard]] SimTime on_path(const sim::Packet& packet) const;
  void inject(sim::Packet& packet, SimTime now);
  SimTime arrived(sim::Packet& packet, SimTime now);
  void departed(const sim::Packet& packet, SimTime end);

  // Answer a get. All data that arrived before the request are in memory.
  void serve_get(RmaPacket& request, SimTime now);

  // --- for ranks that run ahead of the node
  // Note a transfer that will touch a rank's memory or notifications.
  void meet_rma() { has_met_rma_ = true; }
  // Tell whether no RMA is done before `until`, as far as the card knows at `now`. A packet that has not reached the
  // card yet still needs some time in one of its units.
  [[nodiscard]] bool has_no_rma(SimTime now, SimTime until) const;

 private:
  ExtollNetwork& network_;
  NodeId node_;
  unsigned partition_;
  std::vector<ExtollPort*> ports_;  // of the node's ranks
  HostLink to_card_;
  HostLink to_host_;
  FifoServer from_router_;
  NotificationWriter notifications_;
  Velo velo_;
  RmaReader requester_;
  RmaReader responder_;
  RmaCompleter completer_;
  SimTime least_rma_;  // least time from the arrival of a packet or command to its first effect
  bool has_met_rma_ = false;
};

}  // namespace gasmeter::networks::extoll
