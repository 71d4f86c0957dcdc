// The library's own handler indices for teams, beside those of reference/ and atomics/.
#pragma once

#include "gasmeter/base/units.hpp"

namespace gasmeter::core::teams {

inline constexpr HandlerIndex kFirst{48};
inline constexpr HandlerIndex kPiece{49};
inline constexpr HandlerIndex kReady{50};
inline constexpr HandlerIndex kNamedBarrier{51};

}  // namespace gasmeter::core::teams
