// Hosts with sockets at one switch, with round numbers.
#pragma once

#include <string>

#include "gasmeter/networks/ethernet/ethernet_network.hpp"
#include "gasmeter/sim/engine/engine.hpp"
#include "gasmeter/sim/engine/model_host.hpp"

namespace gasmeter::networks::ethernet::testing {

// Prices of tests/golden/ethernet.md.
inline conduit::HostPrices round_prices() {
  using conduit::PrivatePrice;
  using conduit::SharedPrice;
  conduit::HostPrices prices;
  prices[PrivatePrice::call].fixed = {5'000};
  prices[PrivatePrice::header_build].fixed = {20'000};
  prices[PrivatePrice::dispatch].fixed = {20'000};
  prices[PrivatePrice::poll_miss].fixed = {500'000};
  prices[PrivatePrice::update].fixed = {5'000};
  prices[PrivatePrice::clock_read].fixed = {30'000};
  prices[SharedPrice::line_store].fixed = {20'000};
  prices[SharedPrice::line_transfer].fixed = {100'000};
  prices.copy = {{10'000}, 200'000};
  return prices;
}

struct Shape {
  unsigned ranks = 2;
  std::string topology = "crossbar:2";
  bool strict = false;
  unsigned threads = 1;
};

struct World {
  explicit World(const Shape& shape = {}, const EthernetParameters& parameters = {}, Waiting waiting = Waiting::spin)
      : engine(options(shape, waiting)), network(engine, sim::Topology::parse(shape.topology), parameters, waiting) {}

  static sim::EngineOptions options(const Shape& shape, Waiting waiting = Waiting::spin) {
    const sim::Topology topology = sim::Topology::parse(shape.topology);
    sim::EngineOptions result;
    result.ranks = shape.ranks;
    result.nodes = topology.vertices();
    const unsigned per_node = (shape.ranks + topology.terminals() - 1) / topology.terminals();
    for (unsigned rank = 0; rank < shape.ranks; ++rank) result.node_of.push_back(rank / per_node);
    result.prices = round_prices();
    result.strict = shape.strict;
    result.threads = shape.threads;
    result.waits = waiting == Waiting::sleep ? sim::Waits::asleep : sim::Waits::mid_poll;
    return result;
  }
  sim::ModelHost host(unsigned rank) { return engine.host(Rank{rank}); }

  sim::Engine engine;
  EthernetNetwork network;
};

}  // namespace gasmeter::networks::ethernet::testing
