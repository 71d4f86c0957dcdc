#include "gasmeter/networks/sci/sci_network.hpp"

#include <string>
#include <utility>

#include "gasmeter/base/error.hpp"

namespace gasmeter::networks::sci {

namespace {

const SciParameters& checked(const SciParameters& parameters) {
  check_device<SciNumbers>(parameters);
  return parameters;
}

sim::FabricParameters fabric_parameters(const SciParameters& parameters) {
  sim::FabricParameters result(parameters.link);
  result.echo = static_cast<std::uint16_t>(parameters.echo);
  result.turn = parameters.turn;
  return result;
}

sim::Topology one_way(sim::Topology topology) {
  if (topology.one_way()) return topology;
  throw UsageError("sci: the links of " + topology.name() +
                   " go both ways, and those of SCI are rings that go one way; take oneway-ring:N, "
                   "oneway-torus2d:AxB or oneway-torus3d:AxBxC");
}

}  // namespace

SciNetwork::SciNetwork(sim::Engine& engine, sim::Topology topology, const SciParameters& parameters,
                       const DriverSettings& driver)
    : engine_(engine),
      parameters_(checked(parameters)),
      driver_(driver),
      packets_(engine.partitions()),
      fabric_(engine, one_way(std::move(topology)), fabric_parameters(parameters), *this) {
  for (std::uint32_t node = 0; node < engine.nodes(); ++node) {
    if (engine.ranks_of(NodeId{node}).size() > SciCard::kMostRanks) {
      throw UsageError("sci: " + std::to_string(engine.ranks_of(NodeId{node}).size()) + " ranks on node " +
                       std::to_string(node) + "; a card tells " + std::to_string(SciCard::kMostRanks) + " apart");
    }
    cards_.emplace_back(*this, NodeId{node});
  }
  std::vector<std::uint8_t> places(engine.nodes());
  for (std::uint32_t rank = 0; rank < engine.ranks(); ++rank) {
    ranks_.emplace_back(*this, engine.host(Rank{rank}), places[index(engine.node_of(Rank{rank}))]++);
  }
}

std::uint32_t SciNetwork::first_dimension(std::uint32_t from, std::uint32_t to) const {
  const auto all = fabric_.topology().coordinates();
  std::uint32_t dimension = 0;
  while (all[from][dimension] == all[to][dimension]) ++dimension;
  return dimension;
}

SimTime SciNetwork::arrived(sim::Packet& packet, SimTime now) {
  return cards_[packet.to].arrived(static_cast<SciPacket&>(packet), now);
}

void SciNetwork::echoed(const sim::Packet& echo, SimTime now) {
  cards_[echo.to].echoed(echo, now);
}

}  // namespace gasmeter::networks::sci
