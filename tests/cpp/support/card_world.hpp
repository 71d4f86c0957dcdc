// Common parts of small installations of cards with round numbers, for every network.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "gasmeter/conduit/host.hpp"
#include "gasmeter/sim/engine/engine.hpp"
#include "gasmeter/sim/engine/model_host.hpp"
#include "gasmeter/sim/topology/topology.hpp"

namespace gasmeter::testing {

// Return prices of a host, as far as golden sums agree on them.
inline conduit::HostPrices round_card_prices() {
  using conduit::PrivatePrice;
  using conduit::SharedPrice;
  conduit::HostPrices prices;
  prices[PrivatePrice::call].fixed = {5'000};
  prices[PrivatePrice::header_build].fixed = {20'000};
  prices[PrivatePrice::dispatch].fixed = {20'000};
  prices[PrivatePrice::poll_miss].fixed = {10'000};
  prices[PrivatePrice::update].fixed = {5'000};
  prices[SharedPrice::line_store].fixed = {20'000};
  prices[SharedPrice::line_transfer].fixed = {100'000};
  prices[SharedPrice::pio_store] = {{40'000}, 1'000'000};
  prices.copy = {{10'000}, 100'000};
  return prices;
}

struct CardShape {
  unsigned ranks = 2;
  std::string topology = {};                // empty: the network's default
  std::vector<std::uint32_t> node_of = {};  // by rank; empty: one after the other
  bool strict = false;
  unsigned threads = 1;
  conduit::Price registration = {};
  std::optional<conduit::Price> deregistration = {};  // none: the network's own prices

  [[nodiscard]] sim::Topology wiring(const char* usual) const {
    return sim::Topology::parse(topology.empty() ? usual : topology);
  }
};

inline sim::EngineOptions card_options(const CardShape& shape, const sim::Topology& topology,
                                       const conduit::HostPrices& prices) {
  sim::EngineOptions result;
  result.ranks = shape.ranks;
  result.nodes = topology.vertices();
  result.node_of = shape.node_of;
  for (unsigned rank = 0; shape.node_of.empty() && rank < shape.ranks; ++rank) {
    result.node_of.push_back(rank * topology.terminals() / shape.ranks);
  }
  result.prices = prices;
  result.prices[conduit::SharedPrice::registration] = shape.registration;
  if (shape.deregistration) result.prices[conduit::SharedPrice::deregistration] = *shape.deregistration;
  result.strict = shape.strict;
  result.threads = shape.threads;
  return result;
}

// Sleep until `end`, whatever arrives meanwhile.
inline void sleep_until(sim::ModelHost host, SimTime end) {
  while (host.now() < end) host.idle(end);
}

}  // namespace gasmeter::testing
