// An InfiniBand installation: an adapter in every node, joined by the links and switches of a topology.
#pragma once

#include <deque>

#include "gasmeter/networks/ibv/ibv_context.hpp"
#include "gasmeter/networks/ibv/ibv_hca.hpp"
#include "gasmeter/networks/ibv/packet.hpp"
#include "gasmeter/networks/ibv/parameters.hpp"
#include "gasmeter/sim/engine/engine.hpp"
#include "gasmeter/sim/fabric/fabric.hpp"
#include "gasmeter/sim/fabric/packet_pool.hpp"

namespace gasmeter::networks::ibv {

// An installation belongs to one engine, whose nodes are the topology's vertices. The engine outlives it. The
// destructor cancels the engine's bodies. Any number of engine threads may use it: the state of a node is touched on
// that node alone.
class IbvNetwork final : private sim::FabricSink {
 public:
  // Throws UsageError for parameters that the device cannot have, and for ranks on nodes without an adapter.
  IbvNetwork(sim::Engine& engine, sim::Topology topology, const IbvParameters& parameters = {});
  IbvNetwork(const IbvNetwork&) = delete;
  IbvNetwork& operator=(const IbvNetwork&) = delete;
  ~IbvNetwork() { engine_.cancel(); }

  [[nodiscard]] IbvContext& context(Rank rank) { return contexts_[index(rank)]; }
  [[nodiscard]] sim::Engine& engine() const { return engine_; }
  [[nodiscard]] const IbvParameters& parameters() const { return parameters_; }
  [[nodiscard]] sim::Fabric& fabric() { return fabric_; }

  // ---- for adapters and contexts
  [[nodiscard]] IbvHca& hca(NodeId node) { return hcas_[index(node)]; }
  [[nodiscard]] sim::PacketPool<IbPacket>& packets() { return packets_; }

 private:
  SimTime arrived(sim::Packet& packet, SimTime now) override;
  void departed(sim::Packet& packet, SimTime end) override;

  sim::Engine& engine_;
  IbvParameters parameters_;
  sim::PacketPool<IbPacket> packets_;
  sim::Fabric fabric_;
  std::deque<IbvHca> hcas_;
  std::deque<IbvContext> contexts_;
};

}  // namespace gasmeter::networks::ibv
