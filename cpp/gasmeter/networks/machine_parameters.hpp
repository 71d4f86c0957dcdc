// Parameters that machines of several networks have.
#pragma once

#include <initializer_list>
#include <vector>

#include "gasmeter/networks/network.hpp"

namespace gasmeter::networks {

// A time that passes on a core of the host: of library, kernel program, operating system and MPI, what they wait for a
// line or a register included. What cards, links and memory do by themselves is none, and neither is a bandwidth.
[[nodiscard]] ParameterInfo software_time(const char* key, const char* summary);
// The same, which a machine need not state.
[[nodiscard]] ParameterInfo optional(ParameterInfo parameter);

// Of any host with a card: its cores, caches and memory; what its locks and its kernel cost.
[[nodiscard]] const std::vector<ParameterInfo>& core_parameters();
[[nodiscard]] const std::vector<ParameterInfo>& kernel_parameters();
// Of a host, what conduit::core_prices() takes if the machine states it: transfers of many pieces, accesses to shared
// data.
[[nodiscard]] const std::vector<ParameterInfo>& optional_parameters();
// Of a host, what its core's own code costs: what conduit::core_prices() takes of one whose instructions are counted.
[[nodiscard]] const std::vector<ParameterInfo>& instruction_parameters();
// Of hosts with a card, and of the links between them: what conduit::host_prices() takes, and the fabric.
[[nodiscard]] const std::vector<ParameterInfo>& card_parameters();
// Of two-sided messages over a card: what services::matching_parameters() takes.
[[nodiscard]] const std::vector<ParameterInfo>& matching_parameters();

// One list after the other.
[[nodiscard]] std::vector<ParameterInfo> joined(std::initializer_list<std::vector<ParameterInfo>> lists);

}  // namespace gasmeter::networks
