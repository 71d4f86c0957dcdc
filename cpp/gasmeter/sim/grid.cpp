#include "gasmeter/sim/grid.hpp"

#include <algorithm>
#include <limits>

namespace gasmeter::sim {

namespace {

// From coordinate `from` to `to` on a line or ring of `extent`.
Leg leg_between(std::uint32_t from, std::uint32_t to, std::uint32_t extent, bool wraps) {
  const std::uint32_t up = to >= from ? to - from : extent - (from - to);
  const bool tie_goes_down = from % 2 != 0;
  bool down = to < from;
  if (wraps) down = 2 * up > extent || (2 * up == extent && tie_goes_down);
  const std::uint32_t hops = down ? extent - up : up;
  const bool crosses = down ? to > from : to < from;
  std::uint32_t after = 0;
  if (crosses) after = down ? extent - to : to + 1;
  Leg leg;
  leg.before = (hops - after) & 0xffffU;
  leg.after = after & 0x7fffU;
  leg.down = down ? 1 : 0;
  return leg;
}

}  // namespace

Grid::Grid(std::span<const std::uint32_t> extents, Wrap wrap)
    : dimensions_(static_cast<std::uint32_t>(extents.size())) {
  for (std::size_t i = 0; i < extents.size(); ++i) {
    extents_[i] = extents[i];
    wraps_[i] = wrap == Wrap::yes && extents[i] > 2;
    vertices_ *= extents[i];
    reciprocals_[i] = (std::uint64_t{1} << 32U) / extents[i] + 1;
  }
}

std::optional<LinkEnd> Grid::neighbour(std::uint32_t vertex, std::uint32_t port) const {
  const std::uint32_t dimension = port / 2;
  const bool down = port % 2 != 0;
  std::uint32_t stride = 1;
  for (std::uint32_t i = 0; i < dimension; ++i) stride *= extents_[i];
  const std::uint32_t last = extents_[dimension] - 1;
  const std::uint32_t at = vertex / stride % extents_[dimension];
  if (at != (down ? 0 : last)) return LinkEnd{down ? vertex - stride : vertex + stride, port ^ 1U};
  if (!wraps_[dimension]) return std::nullopt;
  return LinkEnd{down ? vertex + last * stride : vertex - last * stride, port ^ 1U};
}

Route Grid::route(std::uint32_t from, std::uint32_t to) const {
  Route route;
  for (std::uint32_t i = 0; i < dimensions_; ++i) {
    const std::uint32_t from_rest = divide(from, i);
    const std::uint32_t to_rest = divide(to, i);
    route.legs[i] = leg_between(from - from_rest * extents_[i], to - to_rest * extents_[i], extents_[i], wraps_[i]);
    from = from_rest;
    to = to_rest;
  }
  return route;
}

double Grid::mean_hops() const {
  double sum = 0;
  for (std::size_t i = 0; i < extents_.size(); ++i) {
    const double extent = extents_[i];
    const double odd = extents_[i] % 2;
    sum += wraps_[i] ? (extent * extent - odd) / (4 * extent) : (extent * extent - 1) / (3 * extent);
  }
  return sum;
}

std::uint64_t Grid::bisection_links() const {
  std::uint64_t worst = std::numeric_limits<std::uint64_t>::max();
  for (std::size_t i = 0; i < extents_.size(); ++i) {
    if (extents_[i] == 1) continue;
    const std::uint64_t lines = vertices_ / extents_[i];
    worst = std::min(worst, wraps_[i] ? 2 * lines : lines);
  }
  return vertices_ == 1 ? 0 : worst;
}

std::string Grid::port_name(std::uint32_t, std::uint32_t port) const {
  return std::string(1, port % 2 == 0 ? '+' : '-') + "xyz"[port / 2];
}

}  // namespace gasmeter::sim
