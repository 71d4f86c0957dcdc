#include "gasmeter/networks/extoll/extoll_network.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "gasmeter/base/error.hpp"
#include "gasmeter/sim/engine/fast_forward.hpp"

namespace gasmeter::networks::extoll {

namespace {

const ExtollParameters& checked(const ExtollParameters& parameters) {
  check_device<ExtollNumbers>(parameters);
  return parameters;
}

}  // namespace

ExtollNetwork::ExtollNetwork(sim::Engine& engine, sim::Topology topology, const ExtollParameters& parameters)
    : engine_(engine),
      parameters_(checked(parameters)),
      velo_packets_(engine.partitions()),
      rma_packets_(engine.partitions()),
      fabric_(engine, std::move(topology), parameters.link, *this),
      streams_(*this),
      places_(engine.ranks()),
      messages_(engine.partitions()),
      near_boxes_(engine.ranks()) {
  const std::uint32_t cards = fabric_.topology().terminals();
  for (std::uint32_t node = 0; node < engine.nodes(); ++node) {
    const auto ranks = engine.ranks_of(NodeId{node});
    if (!ranks.empty() && node >= cards) {
      throw UsageError("extoll: rank " + std::to_string(index(ranks.front())) + " is placed on node " +
                       std::to_string(node) + ", a switch; the cards are those of nodes 0.." +
                       std::to_string(cards - 1));
    }
    if (ranks.size() > std::numeric_limits<std::uint16_t>::max()) {
      throw UsageError("extoll: " + std::to_string(ranks.size()) + " ranks on a node; at most " +
                       std::to_string(std::numeric_limits<std::uint16_t>::max()));
    }
    for (std::size_t i = 0; i < ranks.size(); ++i)
      places_[index(ranks[i])] = {NodeId{node}, static_cast<std::uint16_t>(i)};
    if (node < cards) nics_.push_back(std::make_unique<ExtollNic>(*this, NodeId{node}));
  }
  for (std::uint32_t rank = 0; rank < engine.ranks(); ++rank) {
    ports_.push_back(std::make_unique<ExtollPort>(*this, engine.host(Rank{rank})));
    nic(node_of(Rank{rank})).add_port(*ports_.back());
  }
  engine.fast_forward().set_traffic(&streams_);
}

ExtollNetwork::~ExtollNetwork() {
  engine_.cancel();
  engine_.fast_forward().set_traffic(nullptr);
}

// A rank whose command is refused has given others before, so that the accepted commands tell enough.
bool ExtollNetwork::has_commanded_rma() const {
  return std::any_of(ports_.begin(), ports_.end(),
                     [](const auto& port) { return port->counters().puts + port->counters().gets != 0; });
}

SimTime ExtollNetwork::arrived(sim::Packet& packet, SimTime now) {
  return nics_[packet.to]->arrived(packet, now);
}

void ExtollNetwork::departed(sim::Packet& packet, SimTime end) {
  nics_[packet.from]->departed(packet, end);
}

}  // namespace gasmeter::networks::extoll
