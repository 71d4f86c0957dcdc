// Ways between the vertices of a grid, as WayCode has them: looked up dimension by dimension.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "gasmeter/base/platform.hpp"
#include "gasmeter/sim/topology/topology.hpp"

namespace gasmeter::sim {

class WayTable {
 public:
  // Holds no way.
  WayTable() = default;
  // Make the table of a topology, a grid of kDimensions that outlives it. The table is empty where a dimension is too
  // long.
  template <std::uint32_t kDimensions>
  [[nodiscard]] static WayTable of(const Topology& topology);

  [[nodiscard]] bool empty() const { return legs_.empty(); }
  [[nodiscard]] GASMETER_INLINE std::uint64_t way(std::uint32_t from, std::uint32_t to) const {
    const Grid::Coordinates& start = places_[from];
    const Grid::Coordinates& end = places_[to];
    std::uint64_t way = 0;
    for (std::size_t i = 3; i-- != 0;) {
      const std::uint64_t legs = legs_[first_leg_[i] + start[i] * extents_[i] + end[i]];
      way = way << (legs >> kLegs) | (legs & kOfWay);
    }
    return way;
  }
  // Return the way in the first dimension in which the vertices differ.
  [[nodiscard]] GASMETER_INLINE std::uint64_t first_part(std::uint32_t from, std::uint32_t to) const {
    const Grid::Coordinates& start = places_[from];
    const Grid::Coordinates& end = places_[to];
    std::size_t i = 0;
    while (start[i] == end[i]) ++i;
    return legs_[first_leg_[i] + start[i] * extents_[i] + end[i]] & kOfWay;
  }

 private:
  static constexpr std::uint32_t kLongest = 64;  // extent of a dimension: 32 KiB
  static constexpr unsigned kLegs = 58;          // bits; the bits above count how many of these are taken
  static constexpr std::uint64_t kOfWay = (std::uint64_t{1} << kLegs) - 1;

  std::span<const Grid::Coordinates> places_;  // by vertex
  // For each dimension, the leg from each coordinate to each; missing dimensions have one leg.
  std::vector<std::uint64_t> legs_;
  std::array<std::uint32_t, 3> first_leg_{};
  std::array<std::uint32_t, 3> extents_{1, 1, 1};
};

template <std::uint32_t kDimensions>
WayTable WayTable::of(const Topology& topology) {
  constexpr unsigned kOfLeg = WayCode<kDimensions>::kLegBits;
  WayTable table;
  std::uint32_t stride = 1;
  for (std::size_t i = 0; i < 3; ++i) {
    const std::uint32_t extent = i < kDimensions ? topology.extents()[i] : 1;
    if (extent > kLongest) return {};
    table.extents_[i] = extent;
    table.first_leg_[i] = static_cast<std::uint32_t>(table.legs_.size());
    for (std::uint32_t from = 0; from < extent; ++from) {
      for (std::uint32_t to = 0; to < extent; ++to) {
        const std::uint64_t legs = WayCode<kDimensions>::pack(topology.route(from * stride, to * stride));
        const auto count = (static_cast<unsigned>(std::bit_width(legs)) + kOfLeg - 1) / kOfLeg;
        table.legs_.push_back(legs | std::uint64_t{count * kOfLeg} << kLegs);
      }
    }
    stride *= extent;
  }
  table.places_ = topology.coordinates();
  return table;
}

}  // namespace gasmeter::sim
