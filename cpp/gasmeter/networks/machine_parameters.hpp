// Rows of parameters that machines of several networks have. Their invented numbers are those of one host. A network
// whose invented host differs replaces them (ParameterTable::invent).
#pragma once

#include "gasmeter/conduit/host_prices.hpp"
#include "gasmeter/conduit/instruction_counts.hpp"
#include "gasmeter/networks/parameter_table.hpp"
#include "gasmeter/services/matched_messages.hpp"
#include "gasmeter/sim/fabric/fabric.hpp"

namespace gasmeter::networks {

// Numbers that every machine has. A network's numbers derive from these.
struct HostNumbers {
  conduit::HostPrices prices;
  services::MatchingParameters matching;
};

// Add the rows of nodes and ranks, which Installation reads. `topology`: the text of the invented machine.
void placement_rows(ParameterTable& table, const char* topology);
// Every host with a card: its nodes, cores, caches and memory; its locks and system calls.
void core_rows(ParameterTable& table, conduit::HostPrices& prices, const char* topology);
void kernel_rows(ParameterTable& table, conduit::HostPrices& prices);
// Optional costs of a host: transfers of many pieces, accesses to shared data.
void optional_rows(ParameterTable& table, conduit::HostPrices& prices);
// Costs of the core's own code, of a host whose instructions are counted.
void instruction_rows(ParameterTable& table, conduit::HostPrices& prices, const conduit::InstructionCounts& counts);
// Hosts that store into their card and register memory with it, and the links between the cards.
//
// nic_post and nic_take stay 0: devices are built from the other prices. Undoing a registration costs a system call,
// unless a device has keys of its own for it.
void card_rows(ParameterTable& table, conduit::HostPrices& prices, const conduit::InstructionCounts& counts,
               sim::LinkParameters& link, Bytes& header, const char* topology);
// A link: what it is, in words, and the fields that take its numbers.
struct LinkWords {
  const char* hop = "one hop: router and wire";
  const char* buffer = "packets held by one input and virtual channel";
};
void link_rows(ParameterTable& table, sim::LinkParameters& link, const LinkWords& words = {});
// Two-sided messages over a card.
void matching_rows(ParameterTable& table, HostNumbers& numbers);

}  // namespace gasmeter::networks
