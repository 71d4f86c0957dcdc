// Rings, meshes and tori: every vertex is a router with a NIC.
//
// Vertices count x fastest: x + X * (y + Y * z). Ports are +x -x +y -y +z -z, whether a link exists or not: mesh edges
// have none, nor has a dimension of one node. A torus dimension of two nodes is one cable, as in a mesh: two cables
// would be parallel, and the rule for ties would leave the second idle.
//
// Routing is dimension order, x first, and minimal. A way of exactly half an even ring goes up (+) from an even
// coordinate and down (-) from an odd one. This loads all links of a ring of 4k nodes alike under uniform traffic; in a
// ring of 4k + 2 ties load every second link once more than the others.
// Wrap links join the last and the first coordinate. Each dimension starts in channel 0 and is in channel 1 from its
// wrap link on (dateline): no cycle of waiting packets closes.
//
// On one-way rings only the + ports have outputs, a ring of two nodes has two links, and ways go up, however far that
// is. The echo returns over the ring's links behind the end of a way.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "gasmeter/sim/topology/route.hpp"

namespace gasmeter::sim {

enum class Wrap : std::uint8_t { no, yes, one_way };

class Grid {
 public:
  // Takes up to three extents of at least 1, whose product is at most 65536; one-way rings have at most kLongestOneWay.
  Grid(std::span<const std::uint32_t> extents, Wrap wrap);

  using Coordinates = std::array<std::uint16_t, 4>;  // x, y, z

  static constexpr std::uint32_t kLongestOneWay = 32768;  // the most hops that a Route can count behind a wrap link

  [[nodiscard]] std::uint32_t terminals() const { return vertices_; }
  [[nodiscard]] std::uint32_t vertices() const { return vertices_; }
  [[nodiscard]] std::uint32_t channels() const { return wraps_[0] || wraps_[1] || wraps_[2] ? 2 : 1; }
  [[nodiscard]] std::uint32_t ports(std::uint32_t) const { return max_ports(); }
  [[nodiscard]] std::uint32_t max_ports() const { return 2 * dimensions_; }
  [[nodiscard]] std::span<const std::uint32_t> extents() const { return std::span(extents_).first(dimensions_); }

  [[nodiscard]] std::span<const Coordinates> coordinates() const { return coordinates_; }  // by vertex

  [[nodiscard]] std::optional<LinkEnd> neighbour(std::uint32_t vertex, std::uint32_t port) const;
  [[nodiscard]] Route route(std::uint32_t from, std::uint32_t to) const;
  [[nodiscard]] bool wraps(std::uint32_t dimension) const { return wraps_[dimension]; }
  // Return the leg of a wrapping dimension the other way round its ring of at most kLongestOneWay nodes.
  [[nodiscard]] std::uint32_t other_way(std::uint32_t from, std::uint32_t to, std::uint32_t dimension) const;
  [[nodiscard]] std::uint32_t vertex_at(const Coordinates& place) const;
  [[nodiscard]] std::uint32_t hops(std::uint32_t from, std::uint32_t to) const { return route(from, to).hops(); }
  [[nodiscard]] double mean_hops() const;
  // Return the worst cut across the middle of a dimension of more than one node: in a ring any two opposite links, on a
  // line of an odd number of nodes next to the middle node. `dead`: both ends of links that do not count.
  [[nodiscard]] std::uint64_t bisection_links(std::span<const LinkEnd> dead = {}) const;
  [[nodiscard]] std::string port_name(std::uint32_t vertex, std::uint32_t port) const;
  // Return one class of links for each dimension.
  [[nodiscard]] std::vector<std::string> link_classes() const;
  [[nodiscard]] std::uint32_t port_class(std::uint32_t, std::uint32_t port) const { return port / 2; }

  [[nodiscard]] bool one_way() const { return one_way_; }
  // Return the vertex at which a packet from `from` entered the ring of `dimension` that it leaves at `vertex`.
  [[nodiscard]] std::uint32_t ring_entry(std::uint32_t from, std::uint32_t vertex, std::uint32_t dimension) const;

 private:
  [[nodiscard]] std::uint32_t stride_of(std::uint32_t dimension) const;

  std::array<std::uint32_t, 3> extents_{1, 1, 1};
  std::array<bool, 3> wraps_{};
  std::array<std::uint32_t, 3> furthest_up_{};  // twice the longest way up, where ways wrap: longer ways go down
  bool one_way_;
  std::uint32_t dimensions_;
  std::uint32_t vertices_ = 1;
  std::vector<Coordinates> coordinates_;  // by vertex
};

}  // namespace gasmeter::sim
