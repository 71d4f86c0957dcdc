// How the rate of real ranks at one word is taken, by a conduit and raw alike: in rounds that are shorter than what the
// operating system gives a rank at a time, and in which all ranks are busy from the first's start to the last's end.
//
// A rank alone at the word is up to 30 times as fast as one of several. In one long block ranks that lose their core
// now and then work by turns, partly alone and partly not at all: what is measured is then neither. Within a round a
// rank that misses lets the others do far more than their share, which tells; such a round is repeated, and a round
// that one was late to leave does not count, since the block's time is that of its median round.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "gasmeter/base/units.hpp"

namespace gasmeter::bench::hot_spot {

inline constexpr std::uint64_t kRound = 8192;   // operations of a rank: 20 us to 1 ms of ranks that are there
inline constexpr std::uint64_t kFewest = 1000;  // of fewer operations nothing can be said
inline constexpr std::uint64_t kChunk = 64;     // operations after which a rank looks whether all have done theirs

// What all ranks did in a round.
struct Round {
  SimTime elapsed;
  std::uint64_t operations = 0;
  bool together = true;  // nobody did more than twice what each had to
};

// One round of a rank; collective, all ranks get the same operations and verdict. A side is what the ranks share:
//   ranks(), barrier(), now();
//   add(n): n fetch-and-adds at the word, results in memory when it returns;
//   finish(round), finished(rank): the last round in which a rank has done what it had to, from 1;
//   tell(operations), told(rank): how many operations it has done in the round.
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
  return round;  // nobody tells anew before the next round's barrier
}

// Rounds of so many operations of each rank; as many more for rounds that were not together as for those asked for.
struct Rounds {
  explicit Rounds(std::uint64_t operations)
      : count(std::max<std::uint64_t>(1, (operations + kRound - 1) / kRound)), each(operations / count) {}
  std::uint64_t count;
  std::uint64_t each;
};

// A block of `operations` of each of the `ranks`: `round(operations)` does one. Collective: what decides whether a
// round is repeated must be alike on all ranks. If no round was together (more ranks than cores), all of them stand for
// it.
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
