#include "gasmeter/networks/portals/portals_network.hpp"

#include <string>
#include <utility>

#include "gasmeter/base/error.hpp"

namespace gasmeter::networks::portals {

namespace {

const PortalsParameters& checked(const PortalsParameters& parameters) {
  check_device<PortalsNumbers>(parameters);
  return parameters;
}

}  // namespace

PortalsNetwork::PortalsNetwork(sim::Engine& engine, sim::Topology topology, const PortalsParameters& parameters)
    : engine_(engine),
      parameters_(checked(parameters)),
      headers_(engine.partitions()),
      data_(engine.partitions()),
      fabric_(engine, std::move(topology), parameters.link, *this) {
  const std::uint32_t cards = fabric_.topology().terminals();
  for (std::uint32_t node = 0; node < engine.nodes(); ++node) {
    const auto ranks = engine.ranks_of(NodeId{node});
    if (!ranks.empty() && node >= cards) {
      throw UsageError("portals: rank " + std::to_string(index(ranks.front())) + " is placed on node " +
                       std::to_string(node) + ", a switch; the cards are those of nodes 0.." +
                       std::to_string(cards - 1));
    }
    if (node < cards) cards_.emplace_back(*this, NodeId{node});
  }
  const bool interrupts = parameters.mode == Mode::generic && !parameters.other_core;
  for (std::uint32_t rank = 0; rank < engine.ranks(); ++rank) {
    interfaces_.emplace_back(*this, engine.host(Rank{rank}));
    if (interrupts) engine.take_interrupts(Rank{rank});
  }
}

SimTime PortalsNetwork::arrived(sim::Packet& packet, SimTime now) {
  return cards_[packet.to].arrived(packet, now);
}

void PortalsNetwork::departed(sim::Packet& packet, SimTime end) {
  cards_[packet.from].transmitter().departed(end);
}

}  // namespace gasmeter::networks::portals
