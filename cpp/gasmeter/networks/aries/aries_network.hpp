// An installation of Aries: a card in every node, joined by the links and routers of a topology.
#pragma once

#include <deque>

#include "gasmeter/networks/aries/aries_nic.hpp"
#include "gasmeter/networks/aries/domain.hpp"
#include "gasmeter/networks/aries/packet.hpp"
#include "gasmeter/networks/aries/parameters.hpp"
#include "gasmeter/sim/engine/engine.hpp"
#include "gasmeter/sim/fabric/fabric.hpp"
#include "gasmeter/sim/fabric/packet_pool.hpp"

namespace gasmeter::networks::aries {

// An installation belongs to one engine, whose nodes are the topology's vertices. The engine outlives it. The
// destructor cancels the engine's bodies. Any number of engine threads may use it: the state of a node is touched on
// that node alone.
class AriesNetwork final : private sim::FabricSink {
 public:
  // Throws UsageError for parameters that the device cannot have, and for ranks on nodes without a card. The same holds
  // for more ranks on a node than windows, unless the ranks share them.
  AriesNetwork(sim::Engine& engine, const sim::Topology& topology, const AriesParameters& parameters = {});
  AriesNetwork(const AriesNetwork&) = delete;
  AriesNetwork& operator=(const AriesNetwork&) = delete;
  ~AriesNetwork() { engine_.cancel(); }

  [[nodiscard]] Domain& domain(Rank rank) { return domains_[index(rank)]; }
  [[nodiscard]] sim::Engine& engine() const { return engine_; }
  [[nodiscard]] const AriesParameters& parameters() const { return parameters_; }
  [[nodiscard]] sim::Fabric& fabric() { return fabric_; }

  // ---- for cards and domains
  [[nodiscard]] AriesNic& nic(NodeId node) { return nics_[index(node)]; }
  [[nodiscard]] std::int64_t link_per_byte_fs() const { return link_per_byte_fs_; }  // out of a card
  [[nodiscard]] sim::PacketPool<RequestPacket>& requests() { return requests_; }
  [[nodiscard]] sim::PacketPool<DataPacket>& data() { return data_; }

 private:
  SimTime arrived(sim::Packet& packet, SimTime now) override;
  void departed(sim::Packet& packet, SimTime end) override;

  sim::Engine& engine_;
  AriesParameters parameters_;
  sim::PacketPool<RequestPacket> requests_;
  sim::PacketPool<DataPacket> data_;
  sim::Fabric fabric_;
  std::int64_t link_per_byte_fs_;
  std::deque<AriesNic> nics_;
  std::deque<Domain> domains_;
};

}  // namespace gasmeter::networks::aries
