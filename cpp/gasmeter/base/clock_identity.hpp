// Identity of the clock that a process reads, for callers that compare times of several processes.
#pragma once

#include <cstdint>

namespace gasmeter {

// Return a number that identifies the origin of CLOCK_MONOTONIC: processes with the same number read the same clock.
// The number is made of the host's boot id and the time namespace of the process. 0 means unknown, and equals no other
// clock. The call reads files.
[[nodiscard]] std::uint64_t monotonic_clock_identity();

// Tell whether two processes that returned these numbers read the same clock.
[[nodiscard]] constexpr bool is_one_clock(std::uint64_t first, std::uint64_t second) {
  return first != 0 && first == second;
}

}  // namespace gasmeter
