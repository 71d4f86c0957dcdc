#include "gasmeter/networks/lapi/lapi_network.hpp"

#include <string>
#include <utility>

#include "gasmeter/base/error.hpp"

namespace gasmeter::networks::lapi {

namespace {

const LapiParameters& checked(const LapiParameters& parameters) {
  check_device<LapiNumbers>(parameters);
  return parameters;
}

}  // namespace

LapiNetwork::LapiNetwork(sim::Engine& engine, sim::Topology topology, const LapiParameters& parameters,
                         Progress progress)
    : engine_(engine),
      parameters_(checked(parameters)),
      progress_(progress),
      packets_(engine.partitions()),
      fabric_(engine, std::move(topology), parameters.link, *this) {
  const std::uint32_t nodes = fabric_.topology().terminals();
  for (std::uint32_t node = 0; node < engine.nodes(); ++node) {
    const auto ranks = engine.ranks_of(NodeId{node});
    if (!ranks.empty() && node >= nodes) {
      throw UsageError("lapi: rank " + std::to_string(index(ranks.front())) + " is placed on node " +
                       std::to_string(node) + ", a switch; the adapters are those of nodes 0.." +
                       std::to_string(nodes - 1));
    }
    if (node < nodes) adapters_.emplace_back(*this, NodeId{node});
  }
  for (std::uint32_t rank = 0; rank < engine.ranks(); ++rank) {
    if (progress == Progress::interrupt) engine.take_interrupts(Rank{rank});
    tasks_.emplace_back(*this, engine.host(Rank{rank}));
  }
}

SimTime LapiNetwork::arrived(sim::Packet& packet, SimTime /*now*/) {
  return adapters_[packet.to].arrived(static_cast<LapiPacket&>(packet));
}

void LapiNetwork::departed(sim::Packet& packet, SimTime end) {
  adapters_[packet.from].departed(static_cast<LapiPacket&>(packet), end);
}

}  // namespace gasmeter::networks::lapi
