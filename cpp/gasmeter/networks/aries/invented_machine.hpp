// Return an invented machine for tests. It describes no real machine.
#pragma once

#include "gasmeter/networks/conformance.hpp"

namespace gasmeter::networks::aries {

[[nodiscard]] MachineNumbers invented_machine(unsigned nodes);

}  // namespace gasmeter::networks::aries
