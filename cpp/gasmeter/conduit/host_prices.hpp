// Prices of a machine's hosts, which every modelled network needs.
#pragma once

#include <string>
#include <vector>

#include "gasmeter/conduit/charges.hpp"
#include "gasmeter/conduit/host.hpp"
#include "gasmeter/conduit/instruction_counts.hpp"
#include "gasmeter/conduit/machine_values.hpp"
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

// Take the keys "host.*" of processor and memory. Required are the times call, header_build, dispatch, poll_miss,
// update, copy_start, line_store and line_transfer, and the bandwidth copy_bandwidth. Optional are the times of
// PiecePrices (piece_copy, loop_turn, loop_level, translation), shared_access, handle_translation, address_look_up and
// generate_bandwidth.
//
// With `counts`, the time `instruction` is required, too, and call, header_build and dispatch become optional. Each of
// these three that is absent, and temporary, describe, inject, deliver and instruction, are priced by their
// instruction counts.
[[nodiscard]] HostPrices core_prices(MachineValues& machine, const InstructionCounts* counts = nullptr);

// Return femtoseconds a byte where each page takes `page`. No product on the way overflows.
[[nodiscard]] std::int64_t per_byte_of_page(SimTime page);

// Return a price by pages: `base` is the key of the fixed time, `per_page` that of the time for each page.
[[nodiscard]] Price page_price(MachineValues& machine, const std::string& base, const std::string& per_page);

// Take all keys "host.*" of a host with a card. Times, beside those of core_prices(): system_call, pio_start,
// uncached_read, lock, registration, registration_per_page, and update_in_cache (of a table of at most `cache` bytes).
// Bandwidths: pio_bandwidth and memory_bandwidth (of the whole node).
//
// nic_post and nic_take stay 0: devices are built from the other prices. Undoing a registration costs a system call,
// unless a device has keys of its own for it.
[[nodiscard]] HostPrices host_prices(MachineValues& machine, const InstructionCounts& counts);

// Return the keys of host_prices() that no charge has used. pio_bandwidth is never returned, since devices read it,
// too.
[[nodiscard]] std::vector<std::string> uncharged_host_keys(const Charges& charges);

}  // namespace gasmeter::conduit
