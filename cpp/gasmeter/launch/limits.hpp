// Limits of the system on one job, checked before anything is started.
#pragma once

#include <sys/resource.h>

#include <cstdint>

namespace gasmeter::launch {

// Ranks that one launcher can poll and one kernel can schedule; far above any single host with a core per rank.
inline constexpr std::uint32_t kMaxRanks = 4096;

// Throw UsageError outside 1..kMaxRanks, ResourceError above the limit on processes.
void check_ranks(std::uint32_t ranks);

// Raise the soft limit on open files where needed, since the launcher holds one socket per rank. Returns the old limit,
// which the ranks get. Throws ResourceError if the hard limit is too low.
[[nodiscard]] rlimit allow_descriptors(std::uint32_t ranks);

}  // namespace gasmeter::launch
