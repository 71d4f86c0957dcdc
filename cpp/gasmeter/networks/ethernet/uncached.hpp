// Hosts whose caches are switched off: every instruction is fetched from memory, and every load and store goes there.
//
// Prices of software then follow from its instructions, its loads and stores, and the bytes it copies. Prices with
// caches do not enter.
#pragma once

#include "gasmeter/conduit/host.hpp"
#include "gasmeter/networks/ethernet/parameters.hpp"

namespace gasmeter::networks::ethernet {

// Replace every price of software by its price without caches. Prices of cards, wires and memory bandwidth stay. Throws
// UsageError for prices whose instructions are unknown.
void switch_caches_off(const UncachedHost& host, conduit::HostPrices& prices, EthernetParameters& parameters);

}  // namespace gasmeter::networks::ethernet
