// The numbers of a machine with EXTOLL cards, round ones that stand for nothing.
#pragma once

#include "gasmeter/networks/conformance.hpp"

namespace gasmeter::networks::extoll {

// Cards side by side, 16 ranks each.
[[nodiscard]] MachineNumbers invented_machine(unsigned nodes);

}  // namespace gasmeter::networks::extoll
