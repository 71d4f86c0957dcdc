// DIS Update by one process: a chain like Pointer's, which overwrites each word that it has visited.
#pragma once

#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "gasmeter/bench/dis/pointer.hpp"

namespace gasmeter::bench::dis {

// Follow the chain and change the field.
inline ChainEnd update(std::vector<Word>& field, unsigned window, const Chain& chain, std::uint64_t limit) {
  const std::uint64_t reach = field.size() - window;
  ChainEnd result{0, chain.initial};
  while (result.hops < limit && !chain.stops_at(result.index)) {
    const std::span<const Word> read = std::span<const Word>(field).subspan(result.index, window);
    const Word sum = std::accumulate(read.begin(), read.end(), Word{0});
    const Word median = sorted_median(read);
    field[result.index] = sum % reach;
    result.index = (median + result.hops) % reach;
    ++result.hops;
  }
  return result;
}

}  // namespace gasmeter::bench::dis
