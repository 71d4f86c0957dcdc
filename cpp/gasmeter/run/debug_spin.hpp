// The debug option `debug_spin`: slows active messages between ranks that share memory by a known share.
#pragma once

#include <cstdint>
#include <string>

#include "gasmeter/launch/rank_link.hpp"

namespace gasmeter::run {

// Return how many steps (core::spin_for) every handler must spin so that the round trip of a Short and its reply takes
// `share` longer than without. Both are measured here, in turn, on separate memory named `id`. Collective; the same
// result on every rank. Throws UsageError for a share that is negative or above 10.
template <class H>
[[nodiscard]] std::uint64_t steps_of_spin(launch::RankLink& link, const std::string& id, double share);

}  // namespace gasmeter::run
