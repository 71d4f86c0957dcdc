// A Myrinet installation: a card in every node, joined by the links and switches of a topology.
#pragma once

#include <deque>

#include "gasmeter/networks/gm/gm_port.hpp"
#include "gasmeter/networks/gm/lanai.hpp"
#include "gasmeter/networks/gm/packet.hpp"
#include "gasmeter/networks/gm/parameters.hpp"
#include "gasmeter/sim/engine/engine.hpp"
#include "gasmeter/sim/fabric/fabric.hpp"
#include "gasmeter/sim/fabric/packet_pool.hpp"

namespace gasmeter::networks::gm {

// An installation belongs to one engine, whose nodes are the topology's vertices. The engine outlives it. The
// destructor cancels the programs that the engine still runs. Any number of engine threads may use it: the state of a
// node is touched on that node alone.
class GmNetwork final : private sim::FabricSink {
 public:
  // Throws UsageError for parameters that the device cannot have, and for ranks on nodes without a card.
  GmNetwork(sim::Engine& engine, sim::Topology topology, const GmParameters& parameters = {});
  GmNetwork(const GmNetwork&) = delete;
  GmNetwork& operator=(const GmNetwork&) = delete;
  ~GmNetwork() { engine_.cancel(); }

  [[nodiscard]] GmPort& port(Rank rank) { return ports_[index(rank)]; }
  [[nodiscard]] sim::Engine& engine() const { return engine_; }
  [[nodiscard]] const GmParameters& parameters() const { return parameters_; }
  [[nodiscard]] sim::Fabric& fabric() { return fabric_; }

  // ---- for cards and ports
  [[nodiscard]] Lanai& card(NodeId node) { return cards_[index(node)]; }
  [[nodiscard]] sim::PacketPool<GmPacket>& packets() { return packets_; }

 private:
  SimTime arrived(sim::Packet& packet, SimTime now) override;
  void departed(sim::Packet& packet, SimTime end) override;

  sim::Engine& engine_;
  GmParameters parameters_;
  sim::PacketPool<GmPacket> packets_;
  sim::Fabric fabric_;
  std::deque<Lanai> cards_;
  std::deque<GmPort> ports_;
};

}  // namespace gasmeter::networks::gm
