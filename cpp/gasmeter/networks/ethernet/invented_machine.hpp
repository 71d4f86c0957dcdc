// Invented machine with sockets, for tests. Its round numbers describe no machine.
#pragma once

#include "gasmeter/networks/conformance.hpp"

namespace gasmeter::networks::ethernet {

// Return a machine with one switch and, unless a test says otherwise, one rank per node.
[[nodiscard]] MachineNumbers invented_machine(unsigned nodes);

}  // namespace gasmeter::networks::ethernet
