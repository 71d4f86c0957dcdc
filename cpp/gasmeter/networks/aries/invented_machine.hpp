// A machine that stands for none, for tests.
#pragma once

#include "gasmeter/networks/conformance.hpp"

namespace gasmeter::networks::aries {

[[nodiscard]] MachineNumbers invented_machine(unsigned nodes);

}  // namespace gasmeter::networks::aries
