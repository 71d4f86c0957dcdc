// The placement probe: a cache-line round trip between ranks 0 and 1, two lines, spinning without pause. Virtual
// machines move their cores; figures are only compared where this one agrees.
#pragma once

#include "gasmeter/base/units.hpp"
#include "gasmeter/launch/rank_link.hpp"

namespace gasmeter::run {

// Collective. The median round trip in ns over about `span`; NaN for a single rank. Meaningful on rank 0.
[[nodiscard]] double probe_round_trip_ns(launch::RankLink& link, SimTime span);

}  // namespace gasmeter::run
