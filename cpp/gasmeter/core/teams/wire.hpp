// Limits of the messages of teams.
#pragma once

#include <cstddef>
#include <cstdint>

#include "gasmeter/base/units.hpp"

namespace gasmeter::core::teams {

// Largest message that may arrive before its receiver has entered the collective
inline constexpr Bytes kMostFirst = Bytes{8} * 1024;
// Return how many messages a team of this size keeps until this rank enters their collectives. Each has at most
// kMostFirst bytes.
[[nodiscard]] constexpr std::size_t most_early(std::uint32_t ranks) {
  return 16384 + std::size_t{64} * ranks;
}

}  // namespace gasmeter::core::teams
