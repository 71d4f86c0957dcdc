// An invented machine of a network, with another topology and placement.
#pragma once

#include <stdexcept>
#include <string>

#include "gasmeter/networks/registry.hpp"

namespace gasmeter::testing {

// Make the machine. An empty placement leaves the machine's own.
inline networks::MachineNumbers invented_machine(const std::string& network, const std::string& topology,
                                                 const std::string& placement = "") {
  for (const networks::ModelledEntry& entry : networks::Registry::all().modelled()) {
    if (entry.info.name != network || entry.invented == nullptr) continue;
    networks::MachineNumbers machine = entry.invented(1);
    machine["topology"] = topology;
    if (!placement.empty()) machine["placement"] = placement;
    return machine;
  }
  throw std::logic_error("network " + network + " has no invented machine");
}

}  // namespace gasmeter::testing
