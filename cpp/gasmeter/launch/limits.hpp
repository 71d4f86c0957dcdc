// What the system lets one job have, checked before anything is started.
#pragma once

#include <sys/resource.h>

#include <cstdint>

namespace gasmeter::launch {

// What one launcher can poll and one kernel schedules sensibly; far beyond any single host with a core per rank.
inline constexpr std::uint32_t kMaxRanks = 4096;

// Throws UsageError outside 1..kMaxRanks, ResourceError above the limit on processes.
void check_ranks(std::uint32_t ranks);

// The launcher holds one socket per rank: lifts the soft limit on open files where needed. Returns the limit as it was,
// which is what the ranks get. Throws ResourceError if the hard limit is too low.
[[nodiscard]] rlimit allow_descriptors(std::uint32_t ranks);

}  // namespace gasmeter::launch
