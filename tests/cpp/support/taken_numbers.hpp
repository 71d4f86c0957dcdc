// Numbers that a network's table takes from its invented machine, with other values of some keys.
#pragma once

#include <string>

#include "gasmeter/base/error.hpp"
#include "gasmeter/networks/parameter_table.hpp"

namespace gasmeter::networks {

// Take the numbers, and check that the machine has no key besides the table's and those of the placement.
template <class Numbers>
Numbers taken(const std::string& network, const MachineNumbers& others = {}) {
  Numbers numbers;
  MachineNumbers values = table(numbers).invented(2);
  for (const auto& [key, value] : others) values[key] = value;
  for (const char* const key : {"topology", "placement", "ranks_per_node"}) values.erase(key);
  conduit::MachineValues machine(network, values);
  take(machine, numbers);
  machine.check_all_used();
  return numbers;
}

// Return the error for one value; empty if it is allowed.
template <class Numbers>
std::string refusal_of(const std::string& network, const std::string& key, double value) {
  try {
    (void)taken<Numbers>(network, {{key, value}});
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

}  // namespace gasmeter::networks
