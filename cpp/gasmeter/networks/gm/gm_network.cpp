#include "gasmeter/networks/gm/gm_network.hpp"

#include <string>
#include <utility>

#include "gasmeter/base/error.hpp"

namespace gasmeter::networks::gm {

namespace {

const GmParameters& checked(const GmParameters& parameters) {
  check_device<GmNumbers>(parameters);
  return parameters;
}

}  // namespace

GmNetwork::GmNetwork(sim::Engine& engine, sim::Topology topology, const GmParameters& parameters)
    : engine_(engine),
      parameters_(checked(parameters)),
      packets_(engine.partitions()),
      fabric_(engine, std::move(topology), parameters.link, *this) {
  const std::uint32_t cards = fabric_.topology().terminals();
  for (std::uint32_t node = 0; node < engine.nodes(); ++node) {
    const auto ranks = engine.ranks_of(NodeId{node});
    if (!ranks.empty() && node >= cards) {
      throw UsageError("gm: rank " + std::to_string(index(ranks.front())) + " is placed on node " +
                       std::to_string(node) + ", a switch; the cards are those of nodes 0.." +
                       std::to_string(cards - 1));
    }
    if (node < cards) cards_.emplace_back(*this, NodeId{node});
  }
  for (std::uint32_t rank = 0; rank < engine.ranks(); ++rank) ports_.emplace_back(*this, engine.host(Rank{rank}));
}

SimTime GmNetwork::arrived(sim::Packet& packet, SimTime /*now*/) {
  return cards_[packet.to].arrived(static_cast<GmPacket&>(packet));
}

void GmNetwork::departed(sim::Packet& packet, SimTime end) {
  static_cast<GmPacket&>(packet).connection->departed(end);
}

}  // namespace gasmeter::networks::gm
