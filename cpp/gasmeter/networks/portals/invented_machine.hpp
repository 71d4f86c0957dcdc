// Invented machine with SeaStar cards: round numbers that describe no real machine.
#pragma once

#include "gasmeter/networks/conformance.hpp"

namespace gasmeter::networks::portals {

// Return a machine with `nodes` cards on a ring, for 8 ranks each.
[[nodiscard]] MachineNumbers invented_machine(unsigned nodes);

}  // namespace gasmeter::networks::portals
