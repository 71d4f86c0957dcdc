// Return an invented machine for tests, which describes no real machine.
#pragma once

#include "gasmeter/networks/conformance.hpp"

namespace gasmeter::networks::aries {

[[nodiscard]] MachineNumbers invented_machine(unsigned nodes);

}  // namespace gasmeter::networks::aries
