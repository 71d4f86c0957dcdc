#include "gasmeter/networks/aries/aries_network.hpp"

#include <algorithm>
#include <string>

#include "gasmeter/base/error.hpp"

namespace gasmeter::networks::aries {

namespace {

const AriesParameters& checked(const AriesParameters& parameters) {
  check_device<AriesNumbers>(parameters);
  return parameters;
}

// If routers are switches, a card has a link of its own. Otherwise it is a router of a grid.
std::int64_t per_byte_fs_out_of(const sim::Topology& topology, const AriesParameters& parameters) {
  const auto classes = topology.link_classes();
  const bool has_terminals = std::find(classes.begin(), classes.end(), "terminal") != classes.end();
  return (has_terminals ? parameters.terminal : parameters.link).per_byte_fs;
}

void check_ranks(const sim::Engine& engine, NodeId node, std::uint32_t cards, const AriesParameters& parameters) {
  const auto ranks = engine.ranks_of(node);
  if (ranks.empty()) return;
  if (index(node) >= cards) {
    throw UsageError("aries: rank " + std::to_string(index(ranks.front())) + " is placed on node " +
                     std::to_string(index(node)) + ", a switch; the cards are those of nodes 0.." +
                     std::to_string(cards - 1));
  }
  if (ranks.size() > parameters.fma_windows && !parameters.shared_fma) {
    throw UsageError("aries: " + std::to_string(ranks.size()) + " ranks on node " + std::to_string(index(node)) +
                     " for nic.fma_windows of " + std::to_string(parameters.fma_windows) +
                     "; as many are allowed, or option 'fma=shared'");
  }
}

}  // namespace

AriesNetwork::AriesNetwork(sim::Engine& engine, const sim::Topology& topology, const AriesParameters& parameters)
    : engine_(engine),
      parameters_(checked(parameters)),
      requests_(engine.partitions()),
      data_(engine.partitions()),
      fabric_(engine, topology, parameters.links_of(topology), *this),
      link_per_byte_fs_(per_byte_fs_out_of(topology, parameters)) {
  const std::uint32_t cards = topology.terminals();
  for (std::uint32_t node = 0; node < engine.nodes(); ++node) {
    check_ranks(engine, NodeId{node}, cards, parameters);
    if (node < cards) nics_.emplace_back(*this, NodeId{node});
  }
  for (std::uint32_t rank = 0; rank < engine.ranks(); ++rank) domains_.emplace_back(*this, engine.host(Rank{rank}));
}

SimTime AriesNetwork::arrived(sim::Packet& packet, SimTime now) {
  return nics_[packet.to].arrived(packet, now);
}

void AriesNetwork::departed(sim::Packet& packet, SimTime end) {
  nics_[packet.from].bte().departed(*static_cast<DataPacket&>(packet).engine, end);
}

}  // namespace gasmeter::networks::aries
