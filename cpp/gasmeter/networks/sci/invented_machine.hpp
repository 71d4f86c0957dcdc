// The numbers of a machine with SCI cards, round ones that stand for nothing.
#pragma once

#include "gasmeter/networks/conformance.hpp"

namespace gasmeter::networks::sci {

// Cards in one ring, 8 ranks each.
[[nodiscard]] MachineNumbers invented_machine(unsigned nodes);

}  // namespace gasmeter::networks::sci
