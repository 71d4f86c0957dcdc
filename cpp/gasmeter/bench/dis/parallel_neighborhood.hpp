// DIS Neighborhood over a shared image that is dealt to ranks by rows: each rank counts the pairs whose first pixel it
// owns.
//
// `Array`: get(index), own(): this rank's rows, one behind the other. `work(instructions)`: charges its computation.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "gasmeter/bench/dis/neighborhood.hpp"
#include "gasmeter/bench/dis/work.hpp"

namespace gasmeter::bench::dis {

// Rows of a rank. The image has as many rows of pixels as there are ranks times rows.
struct OwnRows {
  std::uint64_t first = 0;
  std::uint64_t count = 0;
};

struct Counted {
  NeighborhoodResult histograms;  // to be summed over all ranks
  std::uint64_t pairs = 0;
  std::uint64_t own_accesses = 0;  // to this rank's pixels
};

template <Fault kFault = Fault::none, class Array, class Work_>
[[nodiscard]] Counted count_pairs(const Array& array, const ImageShape& shape, const OwnRows& rows,
                                  const std::vector<std::uint64_t>& distances, std::uint64_t first_columns,
                                  Work_ work) {
  const std::span<const Pixel> part = array.own();
  const std::uint32_t most = shape.most();
  Counted counted;
  for (const std::uint64_t distance : distances) {
    for (std::size_t which = 0; which < kDirections; ++which) {
      Histograms& histograms = counted.histograms.emplace_back(most);
      if (kFault == Fault::no_direction && which == kDirections - 1) continue;
      const Direction& direction = kAllDirections[which];
      const std::uint64_t down = distance * static_cast<std::uint64_t>(direction.rows);
      // Columns whose partner is also a column.
      const std::uint64_t begin = direction.columns < 0 ? distance : 0;
      const std::uint64_t most_end =
          direction.columns <= 0 ? shape.columns : shape.columns - std::min(shape.columns, distance);
      const std::uint64_t end = std::min(most_end, first_columns);
      const std::int64_t aside = direction.columns * static_cast<std::int64_t>(distance);
      for (std::uint64_t row = 0; row < rows.count; ++row) {
        if (rows.first + row + down >= shape.rows || begin >= end) break;
        const Pixel* const mine = part.data() + shape.at(row, 0);
        const bool is_own = row + down < rows.count;
        if (is_own) {
          const Pixel* const partners = part.data() + shape.at(row + down, 0) + aside;
          for (std::uint64_t column = begin; column < end; ++column) {
            histograms.add(mine[column], partners[column], most);
          }
          work(Work::kPair * (end - begin));
        } else {
          const std::uint64_t partners = shape.at(rows.first + row + down, 0);
          for (std::uint64_t column = begin; column < end; ++column) {
            const Pixel partner =
                array.get(partners + static_cast<std::uint64_t>(static_cast<std::int64_t>(column) + aside));
            histograms.add(mine[column], partner, most);
            work(Work::kPair);
          }
        }
        counted.pairs += end - begin;
        counted.own_accesses += (is_own ? 2 : 1) * (end - begin);
      }
    }
  }
  return counted;
}

}  // namespace gasmeter::bench::dis
