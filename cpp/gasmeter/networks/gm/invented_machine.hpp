// Invented machine with Myrinet cards: round numbers that describe no real machine.
#pragma once

#include "gasmeter/networks/conformance.hpp"

namespace gasmeter::networks::gm {

// Return a machine with `nodes` cards at one switch, for 8 ranks each.
[[nodiscard]] MachineNumbers invented_machine(unsigned nodes);

}  // namespace gasmeter::networks::gm
