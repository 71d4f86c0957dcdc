// Invented machine with HPS adapters: round numbers that describe no real machine.
#pragma once

#include "gasmeter/networks/conformance.hpp"

namespace gasmeter::networks::lapi {

// Return a machine with `nodes` adapters at one switch, for 8 ranks each.
[[nodiscard]] MachineNumbers invented_machine(unsigned nodes);

}  // namespace gasmeter::networks::lapi
