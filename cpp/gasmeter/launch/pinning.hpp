// The CPU on which each rank runs.
//
// Policy: rank i is pinned to the i-th CPU (in ascending number) of the launcher's affinity mask, one rank per CPU. The
// caller chooses by this mask (`taskset`, batch systems). When ranks exceed CPUs, none is pinned and the job is
// oversubscribed: waits must yield, and results are marked. The environment variable GASMETER_PIN overrides:
//   GASMETER_PIN=none     no rank is pinned;
//   GASMETER_PIN=1,0,4-7  rank i runs on the i-th CPU of this list (at least as long as the job has ranks). A list that
//                         names one CPU for two ranks makes the job oversubscribed.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace gasmeter::launch {

inline constexpr int kNotPinned = -1;

struct Placement {
  std::vector<int> cpus;  // by rank; kNotPinned where the kernel may choose
  bool oversubscribed = false;
};

// Return the CPUs that this process may use, ascending.
[[nodiscard]] std::vector<int> allowed_cpus();

// Place ranks. `policy` is the text of GASMETER_PIN, empty if unset. Throws UsageError (one line) for any other text,
// for a CPU outside `allowed`, and for a list that is too short.
[[nodiscard]] Placement place_ranks(std::uint32_t ranks, const std::vector<int>& allowed, std::string_view policy);

// Restrict the calling thread to one CPU; throws ResourceError.
void pin_to(int cpu);

}  // namespace gasmeter::launch
