// A small SCI installation with round numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <span>
#include <string>
#include <vector>

#include "gasmeter/networks/sci/sci_network.hpp"
#include "gasmeter/sim/engine.hpp"
#include "gasmeter/sim/model_host.hpp"

namespace gasmeter::networks::sci::testing {

// The prices of tests/golden/sci.md.
inline conduit::HostPrices round_prices() {
  using conduit::PrivatePrice;
  using conduit::SharedPrice;
  conduit::HostPrices prices;
  prices[PrivatePrice::call].fixed = {5'000};
  prices[PrivatePrice::header_build].fixed = {20'000};
  prices[PrivatePrice::dispatch].fixed = {20'000};
  prices[PrivatePrice::poll_miss].fixed = {10'000};
  prices[SharedPrice::line_store].fixed = {20'000};
  prices[SharedPrice::line_transfer].fixed = {50'000};
  prices[SharedPrice::pio_store] = {{100'000}, 2'000'000};
  prices[SharedPrice::device_read].fixed = {500'000};
  prices.copy = {{10'000}, 100'000};
  return prices;
}

struct Shape {
  unsigned ranks = 2;
  std::string topology = "oneway-ring:2";
  std::vector<std::uint32_t> node_of = {};  // of each rank; empty: one after the other
  bool strict = false;
  unsigned threads = 1;
};

// The defaults, and what a look at a flag takes: nothing, or 4 instructions of 1 ns.
inline SciParameters with_instructions() {
  SciParameters result;
  result.instruction = {1'000};
  return result;
}

struct World {
  explicit World(const Shape& shape = {}, const SciParameters& parameters = {}, const DriverSettings& driver = {})
      : engine(options(shape)), network(engine, sim::Topology::parse(shape.topology), parameters, driver) {}

  static sim::EngineOptions options(const Shape& shape) {
    sim::EngineOptions result;
    const sim::Topology topology = sim::Topology::parse(shape.topology);
    result.ranks = shape.ranks;
    result.nodes = topology.vertices();
    result.node_of = shape.node_of;
    for (unsigned rank = 0; shape.node_of.empty() && rank < shape.ranks; ++rank) {
      result.node_of.push_back(rank * topology.terminals() / shape.ranks);
    }
    result.prices = round_prices();
    result.strict = shape.strict;
    result.threads = shape.threads;
    return result;
  }
  Sisci& sisci(unsigned rank) { return network.sisci(Rank{rank}); }
  sim::ModelHost host(unsigned rank) { return engine.host(Rank{rank}); }
  SciCard& card(unsigned rank) { return network.card(engine.node_of(Rank{rank})); }

  sim::Engine engine;
  SciNetwork network;
};

// Whatever arrives meanwhile.
inline void sleep_until(sim::ModelHost host, SimTime end) {
  while (host.now() < end) host.idle(end);
}

}  // namespace gasmeter::networks::sci::testing
