// Invented machine with EXTOLL cards: round numbers that describe no real machine.
#pragma once

#include "gasmeter/networks/conformance.hpp"

namespace gasmeter::networks::extoll {

// Return a machine with `nodes` cards side by side, for 16 ranks each.
[[nodiscard]] MachineNumbers invented_machine(unsigned nodes);

}  // namespace gasmeter::networks::extoll
