// Which clock of this host a process reads, for those who compare times of several processes.
#pragma once

#include <cstdint>

namespace gasmeter {

// A number of what CLOCK_MONOTONIC counts from: processes that have the same one read one clock. It is that of the
// host since it was started, and of the time namespace that the process lies in. 0: nothing is known of it, and it is
// nobody else's clock. Reads files.
[[nodiscard]] std::uint64_t monotonic_clock_identity();

// Whether two that gave these numbers read one clock.
[[nodiscard]] constexpr bool is_one_clock(std::uint64_t one, std::uint64_t other) {
  return one != 0 && one == other;
}

}  // namespace gasmeter
