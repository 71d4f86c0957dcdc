// Prices of a machine's hosts, which every modelled network needs.
#pragma once

#include <string>
#include <vector>

#include "gasmeter/conduit/charges.hpp"
#include "gasmeter/conduit/host.hpp"
#include "gasmeter/conduit/pages.hpp"

namespace gasmeter::conduit {

// Cost of a transfer of many pieces beside its bytes.
struct PiecePrices {
  SimTime copy{};         // per piece of at most kElementCopy bytes, in place of the start of a copy
  SimTime turn{};         // per turn of a loop
  SimTime level{};        // per begin of a loop
  SimTime translation{};  // per look-up of a neighbour's address
};
// Set the prices of pieces. prices.copy must be set before. A price of 0 changes nothing: then the work is free, and a
// piece costs a copy.
void add_piece_prices(HostPrices& prices, const PiecePrices& pieces);

// Return femtoseconds a byte where each page takes `page`. No product on the way overflows.
[[nodiscard]] std::int64_t per_byte_of_page(SimTime page);

// Return the keys "host.*" of a host with a card that no charge has used. pio_bandwidth is never returned, since
// devices read it, too.
[[nodiscard]] std::vector<std::string> uncharged_host_keys(const Charges& charges);

}  // namespace gasmeter::conduit
