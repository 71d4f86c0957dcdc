#include "gasmeter/sim/topology/grid.hpp"

#include <algorithm>
#include <limits>

#include "gasmeter/base/platform.hpp"

namespace gasmeter::sim {

namespace {

// Return the leg from coordinate `from` to `to`, `up` further up, on a line or ring of `extent`. There is no branch,
// since none could be predicted.
GASMETER_INLINE std::uint32_t leg_towards(bool down, std::uint32_t from, std::uint32_t to, std::uint32_t up,
                                          std::uint32_t extent) {
  const std::uint32_t hops = down ? extent - up : up;
  const std::uint32_t behind = down ? extent - to : to + 1;
  const bool crosses = down != (to < from) && hops != 0;
  const std::uint32_t after = crosses ? behind : 0;
  return Route::leg(hops - after, after, down);
}

GASMETER_INLINE std::uint32_t up_between(std::uint32_t from, std::uint32_t to, std::uint32_t extent) {
  return to - from + (to < from ? extent : 0);
}

// Return the shortest leg. A leg of half a ring goes up from even coordinates, down from odd ones.
GASMETER_INLINE std::uint32_t leg_between(std::uint32_t from, std::uint32_t to, std::uint32_t extent, bool wraps,
                                          std::uint32_t furthest_up) {
  const std::uint32_t up = up_between(from, to, extent);
  const bool shorter_down = 2 * up + (from & 1U) > furthest_up;
  return leg_towards(wraps ? shorter_down : to < from, from, to, up, extent);
}

}  // namespace

Grid::Grid(std::span<const std::uint32_t> extents, Wrap wrap)
    : one_way_(wrap == Wrap::one_way), dimensions_(static_cast<std::uint32_t>(extents.size())) {
  for (std::size_t i = 0; i < extents.size(); ++i) {
    extents_[i] = extents[i];
    wraps_[i] = wrap != Wrap::no && extents[i] > (one_way_ ? 1 : 2);
    furthest_up_[i] = one_way_ ? 2 * extents[i] : extents[i];
    vertices_ *= extents[i];
  }
  coordinates_.resize(vertices_);
  for (std::uint32_t vertex = 0; vertex < vertices_; ++vertex) {
    std::uint32_t rest = vertex;
    for (std::size_t i = 0; i < extents_.size(); ++i) {
      coordinates_[vertex][i] = static_cast<std::uint16_t>(rest % extents_[i]);
      rest /= extents_[i];
    }
  }
}

std::optional<LinkEnd> Grid::neighbour(std::uint32_t vertex, std::uint32_t port) const {
  const std::uint32_t dimension = port / 2;
  const bool down = port % 2 != 0;
  if (one_way_ && down) return std::nullopt;
  const std::uint32_t stride = stride_of(dimension);
  const std::uint32_t last = extents_[dimension] - 1;
  const std::uint32_t at = vertex / stride % extents_[dimension];
  if (at != (down ? 0 : last)) return LinkEnd{down ? vertex - stride : vertex + stride, port ^ 1U};
  if (!wraps_[dimension]) return std::nullopt;
  return LinkEnd{down ? vertex + last * stride : vertex - last * stride, port ^ 1U};
}

Route Grid::route(std::uint32_t from, std::uint32_t to) const {
  const Coordinates& start = coordinates_[from];
  const Coordinates& end = coordinates_[to];
  Route route;
  for (std::uint32_t i = 0; i < dimensions_; ++i) {
    route.legs[i] = leg_between(start[i], end[i], extents_[i], wraps_[i], furthest_up_[i]);
  }
  return route;
}

std::uint32_t Grid::other_way(std::uint32_t from, std::uint32_t to, std::uint32_t dimension) const {
  const std::uint32_t start = coordinates_[from][dimension];
  const std::uint32_t end = coordinates_[to][dimension];
  const std::uint32_t extent = extents_[dimension];
  const bool down = leg_between(start, end, extent, true, furthest_up_[dimension]) >> 31U != 0;
  return leg_towards(!down, start, end, up_between(start, end, extent), extent);
}

std::uint32_t Grid::vertex_at(const Coordinates& place) const {
  return place[0] + extents_[0] * (place[1] + extents_[1] * std::uint32_t{place[2]});
}

double Grid::mean_hops() const {
  double sum = 0;
  for (std::size_t i = 0; i < extents_.size(); ++i) {
    const double extent = extents_[i];
    const double odd = extents_[i] % 2;
    if (one_way_) {
      sum += (extent - 1) / 2;
      continue;
    }
    sum += wraps_[i] ? (extent * extent - odd) / (4 * extent) : (extent * extent - 1) / (3 * extent);
  }
  return sum;
}

std::uint64_t Grid::bisection_links(std::span<const LinkEnd> dead) const {
  std::uint64_t worst = std::numeric_limits<std::uint64_t>::max();
  for (std::uint32_t i = 0; i < extents_.size(); ++i) {
    const std::uint32_t extent = extents_[i];
    if (extent == 1) continue;
    std::vector<std::uint64_t> dead_behind(extent);  // by coordinate
    for (const LinkEnd& end : dead) {
      if (end.port == 2 * i) ++dead_behind[coordinates_[end.vertex][i]];
    }
    const std::uint64_t lines = vertices_ / extent;
    const bool is_ring = wraps_[i] && !one_way_;
    for (std::uint32_t at = is_ring ? 0 : extent / 2 - 1; at < (is_ring ? extent : (extent + 1) / 2); ++at) {
      const std::uint64_t opposite = is_ring ? lines - dead_behind[(at + extent / 2) % extent] : 0;
      worst = std::min(worst, lines - dead_behind[at] + opposite);
    }
  }
  return vertices_ == 1 ? 0 : worst;
}

std::uint32_t Grid::stride_of(std::uint32_t dimension) const {
  std::uint32_t stride = 1;
  for (std::uint32_t i = 0; i < dimension; ++i) stride *= extents_[i];
  return stride;
}

std::uint32_t Grid::ring_entry(std::uint32_t from, std::uint32_t vertex, std::uint32_t dimension) const {
  const std::uint32_t entered = coordinates_[from][dimension];
  const std::uint32_t left = coordinates_[vertex][dimension];
  return vertex + (entered - left) * stride_of(dimension);
}

std::vector<std::string> Grid::link_classes() const {
  const std::vector<std::string> all = {"x", "y", "z"};
  return {all.begin(), all.begin() + dimensions_};
}

std::string Grid::port_name(std::uint32_t, std::uint32_t port) const {
  return std::string(1, port % 2 == 0 ? '+' : '-') + "xyz"[port / 2];
}

}  // namespace gasmeter::sim
