// How the rate of real ranks at one word is measured, by a conduit and raw alike. A round is shorter than a time slice
// of the operating system. All ranks are busy from the first's start to the last's end.
//
// A rank alone at the word is up to 30 times as fast as one of several. In one long block, ranks that lose their core
// now and then work by turns, partly alone and partly not at all. The block then measures neither state. Within a round
// a missing rank lets the others do far more than their share, which shows; such a round is repeated. A round that a
// rank was late to leave does not count, since the block's time is that of its median round.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "gasmeter/base/units.hpp"

namespace gasmeter::bench::hot_spot {

inline constexpr std::uint64_t kRound = 8192;   // operations of a rank: 20 us to 1 ms while all ranks run
inline constexpr std::uint64_t kFewest = 1000;  // fewer operations say nothing
inline constexpr std::uint64_t kChunk = 64;     // operations after which a rank looks whether all have done their share

// A round of all ranks.
struct Round {
  SimTime elapsed;
  std::uint64_t operations = 0;
  bool together = true;  // nobody did more than twice its share
};

// Run one round at a rank; collective: all ranks get the same operations and verdict. A side is what the ranks share:
//   ranks(), barrier(), now();
//   add(n): n fetch-and-adds at the word, with results in memory when it returns;
//   finish(round), finished(rank): the last round in which a rank has done its share, from 1;
//   tell(operations), told(rank): how many operations a rank has done in the round.
template <class Side>
[[nodiscard]] Round one_round(Side& side, std::uint64_t number, std::uint64_t operations) {
  side.barrier();
  const SimTime start = side.now();
  side.add(operations);
  side.finish(number);
  const std::uint64_t most = std::max(2 * operations, operations + kFewest);
  std::uint64_t mine = operations;
  for (std::uint32_t rank = 0; rank < side.ranks(); ++rank) {
    while (side.finished(rank) < number && mine <= most) {  // beyond that the round is lost: others may need this core
      side.add(kChunk);
      mine += kChunk;
    }
  }
  side.tell(mine);
  side.barrier();
  Round round{side.now() - start, 0, true};
  for (std::uint32_t rank = 0; rank < side.ranks(); ++rank) {
    const std::uint64_t theirs = side.told(rank);
    round.operations += theirs;
    round.together &= theirs <= most;
  }
  return round;  // no rank tells anything new before the next round's barrier
}

// Rounds of equally many operations of each rank, as many as `operations` need.
struct Rounds {
  explicit Rounds(std::uint64_t operations)
      : count(std::max<std::uint64_t>(1, (operations + kRound - 1) / kRound)), each(operations / count) {}
  std::uint64_t count;
  std::uint64_t each;
};

// Time a block of `operations` of each of the `ranks`; `round(operations)` does one round. Collective: the decision to
// repeat a round must be alike on all ranks. Rounds that were not together are repeated, up to a limit. If no round was
// together (more ranks than cores), all of them count.
template <class DoRound>
[[nodiscard]] SimTime time_of_block(std::uint64_t operations, std::uint32_t ranks, DoRound&& round) {
  constexpr std::uint64_t kMore = 16;
  const Rounds rounds(operations);
  std::vector<double> good;
  std::vector<double> all;
  for (std::uint64_t i = 0; good.size() < rounds.count && i < 2 * rounds.count + kMore; ++i) {
    const Round done = round(rounds.each);
    all.push_back(static_cast<double>(done.elapsed.ps) / static_cast<double>(done.operations));
    if (done.together) good.push_back(all.back());
    if (operations < kFewest) break;
  }
  std::vector<double>& counted = good.empty() ? all : good;
  const auto median = counted.begin() + static_cast<std::ptrdiff_t>(counted.size() / 2);
  std::nth_element(counted.begin(), median, counted.end());
  return SimTime{static_cast<std::int64_t>(*median * static_cast<double>(operations) * static_cast<double>(ranks))};
}

}  // namespace gasmeter::bench::hot_spot
