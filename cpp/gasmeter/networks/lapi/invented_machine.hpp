// The numbers of a machine with HPS adapters, round ones that stand for nothing.
#pragma once

#include "gasmeter/networks/conformance.hpp"

namespace gasmeter::networks::lapi {

// Adapters at one switch, 8 ranks each.
[[nodiscard]] MachineNumbers invented_machine(unsigned nodes);

}  // namespace gasmeter::networks::lapi
