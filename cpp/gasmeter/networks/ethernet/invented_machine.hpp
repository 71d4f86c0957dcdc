// The numbers of a machine with sockets, round ones that stand for nothing.
#pragma once

#include "gasmeter/networks/conformance.hpp"

namespace gasmeter::networks::ethernet {

// At one switch, a rank each where nothing else is said.
[[nodiscard]] MachineNumbers invented_machine(unsigned nodes);

}  // namespace gasmeter::networks::ethernet
