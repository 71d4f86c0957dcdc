// An installation of Portals on SeaStar: a card in every node, joined by the links and routers of a topology.
#pragma once

#include <deque>

#include "gasmeter/networks/portals/packet.hpp"
#include "gasmeter/networks/portals/parameters.hpp"
#include "gasmeter/networks/portals/portals.hpp"
#include "gasmeter/networks/portals/seastar.hpp"
#include "gasmeter/sim/engine/engine.hpp"
#include "gasmeter/sim/fabric/fabric.hpp"
#include "gasmeter/sim/fabric/packet_pool.hpp"

namespace gasmeter::networks::portals {

// An installation belongs to one engine, whose nodes are the topology's vertices. The engine outlives it. The
// destructor cancels the engine's bodies. Any number of engine threads may use it: the state of a node is touched on
// that node alone.
class PortalsNetwork final : private sim::FabricSink {
 public:
  // Throws UsageError for parameters that the device cannot have, and for ranks on nodes without a card.
  PortalsNetwork(sim::Engine& engine, sim::Topology topology, const PortalsParameters& parameters = {});
  PortalsNetwork(const PortalsNetwork&) = delete;
  PortalsNetwork& operator=(const PortalsNetwork&) = delete;
  ~PortalsNetwork() { engine_.cancel(); }

  [[nodiscard]] Portals& portals(Rank rank) { return interfaces_[index(rank)]; }
  [[nodiscard]] sim::Engine& engine() const { return engine_; }
  [[nodiscard]] const PortalsParameters& parameters() const { return parameters_; }
  [[nodiscard]] sim::Fabric& fabric() { return fabric_; }

  // ---- for cards
  [[nodiscard]] SeaStar& card(NodeId node) { return cards_[index(node)]; }
  [[nodiscard]] sim::PacketPool<HeaderPacket>& headers() { return headers_; }
  [[nodiscard]] sim::PacketPool<DataPacket>& data() { return data_; }

 private:
  SimTime arrived(sim::Packet& packet, SimTime now) override;
  void departed(sim::Packet& packet, SimTime end) override;

  sim::Engine& engine_;
  PortalsParameters parameters_;
  sim::PacketPool<HeaderPacket> headers_;
  sim::PacketPool<DataPacket> data_;
  sim::Fabric fabric_;
  std::deque<SeaStar> cards_;
  std::deque<Portals> interfaces_;
};

}  // namespace gasmeter::networks::portals
