// DIS Neighborhood by one process: the distribution of sums and differences over all pairs of pixels at a distance, in
// four directions.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "gasmeter/bench/dis/image.hpp"

namespace gasmeter::bench::dis {

inline constexpr std::size_t kDirections = 4;

// From a pixel to its partner, in distances: 0, 45, 90, 135 degrees. Rows grow, so that partners lie behind.
struct Direction {
  std::int64_t rows;
  std::int64_t columns;
};
inline constexpr std::array<Direction, kDirections> kAllDirections{{{0, 1}, {1, 1}, {1, 0}, {1, -1}}};

// Histograms of the sums and of the differences of a pair's pixels: 2 most + 1 bins each, the differences from -most
// on.
struct Histograms {
  explicit Histograms(std::uint32_t most) : sums(2 * most + 1), differences(2 * most + 1) {}

  std::vector<std::uint64_t> sums;
  std::vector<std::uint64_t> differences;

  void add(std::uint32_t pixel, std::uint32_t partner, std::uint32_t most) {
    ++sums[pixel + partner];
    ++differences[most + pixel - partner];
  }
  bool operator==(const Histograms&) const = default;
};

struct Descriptors {
  double entropy = 0;
  double energy = 0;

  bool operator==(const Descriptors&) const = default;
};

// Describe both histograms. Entropy: the sum over both of - p ln p. Energy: the product of both sums of p^2. Without
// pairs both are 0.
[[nodiscard]] inline Descriptors described(const Histograms& histograms) {
  std::uint64_t pairs = 0;
  for (const std::uint64_t times : histograms.sums) pairs += times;
  if (pairs == 0) return {};
  const auto all = static_cast<double>(pairs);
  Descriptors result;
  double of_sums = 0;
  double of_differences = 0;
  const auto add = [&](std::uint64_t times, double& squares) {
    if (times == 0) return;
    const double share = static_cast<double>(times) / all;
    result.entropy -= share * std::log(share);
    squares += share * share;
  };
  for (const std::uint64_t times : histograms.sums) add(times, of_sums);
  for (const std::uint64_t times : histograms.differences) add(times, of_differences);
  result.energy = of_sums * of_differences;
  return result;
}

// Histograms by distance, then by direction.
using NeighborhoodResult = std::vector<Histograms>;

// `first_columns`: counts only pairs whose first pixel stands in one of these columns.
[[nodiscard]] inline NeighborhoodResult neighborhood(const std::vector<Pixel>& image, const ImageShape& shape,
                                                     const std::vector<std::uint64_t>& distances,
                                                     std::uint64_t first_columns) {
  NeighborhoodResult result;
  for (const std::uint64_t distance : distances) {
    for (const Direction& direction : kAllDirections) {
      Histograms& histograms = result.emplace_back(shape.most());
      const auto row_distance = static_cast<std::int64_t>(distance) * direction.rows;
      const auto column_distance = static_cast<std::int64_t>(distance) * direction.columns;
      for (std::int64_t row = 0; row + row_distance < static_cast<std::int64_t>(shape.rows); ++row) {
        for (std::int64_t column = 0; column < static_cast<std::int64_t>(first_columns); ++column) {
          const std::int64_t partner = column + column_distance;
          if (partner < 0 || partner >= static_cast<std::int64_t>(shape.columns)) continue;
          histograms.add(
              image[shape.at(static_cast<std::uint64_t>(row), static_cast<std::uint64_t>(column))],
              image[shape.at(static_cast<std::uint64_t>(row + row_distance), static_cast<std::uint64_t>(partner))],
              shape.most());
        }
      }
    }
  }
  return result;
}

}  // namespace gasmeter::bench::dis
