// Limits of the messages of teams.
#pragma once

#include <cstddef>
#include <cstdint>

#include "gasmeter/base/units.hpp"

namespace gasmeter::core::teams {

inline constexpr Bytes kMostFirst = Bytes{8} * 1024;  // of a message that may come before its receiver is there
// Messages that are kept until this rank enters their collectives, of a team of so many ranks. Each has at most
// kMostFirst bytes.
[[nodiscard]] constexpr std::size_t most_early(std::uint32_t ranks) {
  return 16384 + std::size_t{64} * ranks;
}

}  // namespace gasmeter::core::teams
