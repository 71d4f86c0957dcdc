// The numbers of a machine with SeaStar cards, round ones that stand for nothing.
#pragma once

#include "gasmeter/networks/conformance.hpp"

namespace gasmeter::networks::portals {

// Cards on a ring, 8 ranks each.
[[nodiscard]] MachineNumbers invented_machine(unsigned nodes);

}  // namespace gasmeter::networks::portals
