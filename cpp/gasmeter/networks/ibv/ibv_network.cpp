#include "gasmeter/networks/ibv/ibv_network.hpp"

#include <string>
#include <utility>

#include "gasmeter/base/error.hpp"

namespace gasmeter::networks::ibv {

namespace {

const IbvParameters& checked(const IbvParameters& parameters) {
  check_device<IbvNumbers>(parameters);
  return parameters;
}

}  // namespace

IbvNetwork::IbvNetwork(sim::Engine& engine, sim::Topology topology, const IbvParameters& parameters)
    : engine_(engine),
      parameters_(checked(parameters)),
      packets_(engine.partitions()),
      fabric_(engine, std::move(topology), parameters.link, *this) {
  const std::uint32_t adapters = fabric_.topology().terminals();
  for (std::uint32_t node = 0; node < engine.nodes(); ++node) {
    const auto ranks = engine.ranks_of(NodeId{node});
    if (!ranks.empty() && node >= adapters) {
      throw UsageError("ibv: rank " + std::to_string(index(ranks.front())) + " is placed on node " +
                       std::to_string(node) + ", a switch; the adapters are those of nodes 0.." +
                       std::to_string(adapters - 1));
    }
    if (node < adapters) hcas_.emplace_back(*this, NodeId{node});
  }
  for (std::uint32_t rank = 0; rank < engine.ranks(); ++rank) contexts_.emplace_back(*this, engine.host(Rank{rank}));
}

SimTime IbvNetwork::arrived(sim::Packet& packet, SimTime now) {
  return hcas_[packet.to].arrived(static_cast<IbPacket&>(packet), now);
}

void IbvNetwork::departed(sim::Packet& packet, SimTime end) {
  static_cast<IbPacket&>(packet).pair->departed(static_cast<PacketKind>(packet.kind), end);
}

}  // namespace gasmeter::networks::ibv
