// Round prices for tests: a golden time is a sum that can be done by hand.
#pragma once

#include "gasmeter/conduit/host.hpp"
#include "gasmeter/sim/engine/engine.hpp"

namespace gasmeter::sim::testing {

inline conduit::HostPrices round_prices() {
  using conduit::PrivatePrice;
  using conduit::SharedPrice;
  conduit::HostPrices prices;
  prices[PrivatePrice::call].fixed = {1'000};
  prices[PrivatePrice::header_build].fixed = {7'000};
  prices[PrivatePrice::dispatch].fixed = {5'000};
  prices[PrivatePrice::poll_miss].fixed = {10'000};
  prices[PrivatePrice::update].fixed = {3'000};
  prices[SharedPrice::line_store].fixed = {20'000};
  prices[SharedPrice::line_transfer].fixed = {100'000};
  prices[SharedPrice::nic_post].fixed = {200'000};
  prices[SharedPrice::nic_take].fixed = {200'000};
  prices.copy = {{4'000}, 500};
  return prices;
}

inline EngineOptions options_for(unsigned ranks, unsigned nodes, bool strict = false) {
  EngineOptions options;
  options.ranks = ranks;
  options.nodes = nodes;
  options.prices = round_prices();
  options.strict = strict;
  return options;
}

}  // namespace gasmeter::sim::testing
