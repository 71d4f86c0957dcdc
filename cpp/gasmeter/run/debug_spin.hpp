// The debug option `debug_spin`: active messages between ranks that share memory slowed by a known share.
#pragma once

#include <cstdint>
#include <string>

#include "gasmeter/launch/rank_link.hpp"

namespace gasmeter::run {

// How many steps (core::spin_for) every handler has to spin so that the round trip of a Short and its reply takes
// `share` longer than without: both are measured here, in turn, on memory of their own named `id`. Collective; the same
// on every rank. Throws UsageError for a share that is negative or above 10.
template <class H>
[[nodiscard]] std::uint64_t steps_of_spin(launch::RankLink& link, const std::string& id, double share);

}  // namespace gasmeter::run
