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
#include "gasmeter/sim/engine/engine.hpp"
#include "gasmeter/sim/engine/model_host.hpp"
#include "support/card_world.hpp"

namespace gasmeter::networks::sci::testing {

// The prices of tests/golden/sci.md.
inline conduit::HostPrices round_prices() {
  using conduit::SharedPrice;
  conduit::HostPrices prices = gasmeter::testing::round_card_prices();
  prices[SharedPrice::line_transfer].fixed = {50'000};
  prices[SharedPrice::pio_store] = {{100'000}, 2'000'000};
  prices[SharedPrice::device_read].fixed = {500'000};
  return prices;
}

using gasmeter::testing::sleep_until;
using Shape = gasmeter::testing::CardShape;

// The defaults, and the time of a look at a flag: nothing, or 4 instructions of 1 ns.
inline SciParameters with_instructions() {
  SciParameters result;
  result.instruction = {1'000};
  return result;
}

struct World {
  explicit World(const Shape& shape = {}, const SciParameters& parameters = {}, const DriverSettings& driver = {})
      : engine(options(shape)), network(engine, shape.wiring(kTopology), parameters, driver) {}

  static constexpr const char* kTopology = "oneway-ring:2";
  static sim::EngineOptions options(const Shape& shape) {
    return gasmeter::testing::card_options(shape, shape.wiring(kTopology), round_prices());
  }
  Sisci& sisci(unsigned rank) { return network.sisci(Rank{rank}); }
  sim::ModelHost host(unsigned rank) { return engine.host(Rank{rank}); }
  SciCard& card(unsigned rank) { return network.card(engine.node_of(Rank{rank})); }

  sim::Engine engine;
  SciNetwork network;
};

}  // namespace gasmeter::networks::sci::testing
