// Dissemination (Hensgen, Finkel, Manber 1988): the rounds of a barrier. In each round every rank tells a rank ahead
// that it has come, and waits for the rank equally far behind; the distance doubles each round.
#pragma once

#include <cstdint>

#include "gasmeter/base/units.hpp"

namespace gasmeter::bench {

inline constexpr unsigned kMostDisseminationRounds = 32;

[[nodiscard]] inline Rank rank_ahead(Rank self, std::uint32_t ranks, std::uint64_t steps) {
  return Rank{static_cast<std::uint32_t>((index(self) + steps) % ranks)};
}

// Call enter(round, ahead, behind) for each round; it returns when the rank behind has told.
template <class Enter>
void disseminate(Rank self, std::uint32_t ranks, Enter enter) {
  for (std::uint32_t round = 0; (std::uint64_t{1} << round) < ranks; ++round) {
    const std::uint64_t steps = std::uint64_t{1} << round;
    enter(round, rank_ahead(self, ranks, steps), rank_ahead(self, ranks, ranks - steps));
  }
}

}  // namespace gasmeter::bench
