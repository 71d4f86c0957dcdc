// Parameters that machines of several networks have.
#pragma once

#include <initializer_list>
#include <vector>

#include "gasmeter/networks/network.hpp"

namespace gasmeter::networks {

// Describe a time that passes on a host's core, in the library, a kernel program, the operating system or MPI. Waiting
// for a cache line or a card's register counts as such a time. Times of cards, links and memory do not, and neither do
// bandwidths.
[[nodiscard]] ParameterInfo software_time(const char* key, const char* summary);
// Mark a parameter as one that a machine file may leave out.
[[nodiscard]] ParameterInfo optional(ParameterInfo parameter);

// Parameters of every host with a card: its cores, caches and memory; its locks and system calls.
[[nodiscard]] const std::vector<ParameterInfo>& core_parameters();
[[nodiscard]] const std::vector<ParameterInfo>& kernel_parameters();
// Optional costs of a host, which conduit::core_prices() reads: transfers of many pieces, accesses to shared data.
[[nodiscard]] const std::vector<ParameterInfo>& optional_parameters();
// Costs of the core's own code, which conduit::core_prices() reads for a host whose instructions are counted.
[[nodiscard]] const std::vector<ParameterInfo>& instruction_parameters();
// Parameters of hosts with a card, which conduit::host_prices() reads, and of the links between them.
[[nodiscard]] const std::vector<ParameterInfo>& card_parameters();
// Parameters of two-sided messages over a card, which services::matching_parameters() reads.
[[nodiscard]] const std::vector<ParameterInfo>& matching_parameters();

// Join lists of parameters into one.
[[nodiscard]] std::vector<ParameterInfo> joined(std::initializer_list<std::vector<ParameterInfo>> lists);

}  // namespace gasmeter::networks
