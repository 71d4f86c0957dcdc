// The part of a machine that every modelled network has: its host.
#pragma once

#include <string>
#include <vector>

#include "gasmeter/conduit/charges.hpp"
#include "gasmeter/conduit/host.hpp"
#include "gasmeter/conduit/instruction_counts.hpp"
#include "gasmeter/conduit/machine_values.hpp"
#include "gasmeter/conduit/pages.hpp"

namespace gasmeter::conduit {

// What a transfer of many pieces costs beside the bytes.
struct PiecePrices {
  SimTime copy{};         // of a piece of at most kElementCopy bytes, in place of the start of a copy
  SimTime turn{};         // each turn of a loop
  SimTime level{};        // each time that a loop begins
  SimTime translation{};  // each address of a neighbour that is looked up
};
// Once the price of a copy stands; 0 leaves what is there. A host without costs nothing for them, and a piece is a
// copy.
void add_piece_prices(HostPrices& prices, const PiecePrices& pieces);

// Takes the keys "host.*" of processor and memory: times call, header_build, dispatch, poll_miss, update, copy_start,
// line_store, line_transfer; bandwidth copy_bandwidth; and, where they are there, the times of PiecePrices: piece_copy,
// loop_turn, loop_level, translation; and shared_access, handle_translation, address_look_up and generate_bandwidth.
// `counts`: takes the time instruction, too, and of call, header_build and dispatch those that are there; each of the
// others, temporary, describe, inject, deliver and instruction are so many instructions.
[[nodiscard]] HostPrices core_prices(MachineValues& machine, const InstructionCounts* counts = nullptr);

// Femtoseconds a byte where each page takes `page`; no product on the way overflows.
[[nodiscard]] std::int64_t per_byte_of_page(SimTime page);

// A price by the page, of two times: by `base` whatever the length, by `per_page` for each page.
[[nodiscard]] Price page_price(MachineValues& machine, const std::string& base, const std::string& per_page);

// Takes all keys "host.*" of a host with a card: those, the times system_call, pio_start, uncached_read, lock,
// registration, registration_per_page, update_in_cache (of a table of at most `cache` bytes), and the bandwidths
// pio_bandwidth and memory_bandwidth (of the whole node). nic_post and nic_take stay 0: devices are made of the others.
// To undo a registration is to enter the kernel, unless a device has keys of its own for it.
[[nodiscard]] HostPrices host_prices(MachineValues& machine, const InstructionCounts& counts);

// Of host_prices(): the keys that no charge has made use of. Never among them: pio_bandwidth, which devices read, too.
[[nodiscard]] std::vector<std::string> uncharged_host_keys(const Charges& charges);

}  // namespace gasmeter::conduit
