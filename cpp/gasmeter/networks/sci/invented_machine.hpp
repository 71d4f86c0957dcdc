// Invented machine with SCI cards: round numbers that describe no real machine.
#pragma once

#include "gasmeter/networks/conformance.hpp"

namespace gasmeter::networks::sci {

// Return a machine with `nodes` cards in one ring, for 8 ranks each.
[[nodiscard]] MachineNumbers invented_machine(unsigned nodes);

}  // namespace gasmeter::networks::sci
