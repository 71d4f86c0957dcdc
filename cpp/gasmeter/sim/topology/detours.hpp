// Ways round dead links. A packet whose usual way has no dead link keeps that way.
//
// Meshes: a way leads over one further node, in dimension order to it in channel 0 and in dimension order from it in
// channel 1. The node of the shortest way is chosen; among equal ones the nearest on a line with the packet's source,
// else with its destination (x before y before z, + before -), else the first of all. Tori: a dimension that wraps is
// crossed the other way round its ring, which is still dimension order. A dimension of two nodes is crossed in another
// row: in dimension order to where that row begins, across in channel 1, and on in dimension order, never over a wrap
// link. No usual way takes channel 1 there. Fat trees: the way up takes the ports that lead to the next number instead
// of the destination's, or the next but one, until the way is whole. The way down follows.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "gasmeter/sim/topology/fat_tree.hpp"
#include "gasmeter/sim/topology/faults.hpp"
#include "gasmeter/sim/topology/grid.hpp"
#include "gasmeter/sim/topology/route.hpp"

namespace gasmeter::sim {

class Detours {
 public:
  // Detours of a network without dead links.
  Detours() = default;
  // `dead`: both ends of each link that joins vertices of the shape. Throws UsageError, whose text begins with
  // `topology`, where dead links cut nodes off, leave pairs without a way, or would let ways wait for one another.
  Detours(const Grid& grid, std::vector<LinkEnd> dead, const std::string& topology);
  Detours(const FatTree& tree, std::vector<LinkEnd> dead, const std::string& topology);

  [[nodiscard]] bool is_dead(std::uint32_t vertex, std::uint32_t port) const;
  [[nodiscard]] bool needs_channel_1() const { return steps_aside_; }
  [[nodiscard]] double further_hops() const { return further_hops_; }  // mean over all pairs

  [[nodiscard]] Route route(const Grid& grid, std::uint32_t from, std::uint32_t to) const {
    const auto detour = ways_.find(key(from, to));
    return detour == ways_.end() ? grid.route(from, to) : detour->second;
  }
  [[nodiscard]] Route route(const FatTree&, std::uint32_t from, std::uint32_t to) const {
    const auto detour = ways_.find(key(from, to));
    return detour == ways_.end() ? usual(to) : detour->second;
  }
  [[nodiscard]] static Hop next(const Grid& grid, std::uint32_t vertex, std::uint32_t to, Route& route);
  [[nodiscard]] static Hop next(const FatTree& tree, std::uint32_t vertex, std::uint32_t to, const Route& route);

 private:
  struct Pair {
    std::uint32_t from;
    std::uint32_t to;
  };
  [[nodiscard]] static std::uint64_t key(std::uint32_t from, std::uint32_t to) {
    return std::uint64_t{from} << 32U | to;
  }
  [[nodiscard]] static Route usual(std::uint32_t to) { return {{to, 0, 0}}; }  // in a tree
  template <class Shape>
  void look_for_ways(const Shape& shape, const std::vector<Pair>& pairs, const std::string& topology);
  template <class Shape>
  void require_joined(const Shape& shape, const std::string& topology) const;
  void require_no_circle(const Grid& grid, const std::vector<Pair>& pairs, const std::string& topology) const;
  [[nodiscard]] std::optional<Route> find(const Grid& grid, std::uint32_t from, std::uint32_t to) const;
  [[nodiscard]] std::optional<Route> find(const FatTree& tree, std::uint32_t from, std::uint32_t to) const;
  [[nodiscard]] std::optional<Route> step_aside(const Grid& grid, std::uint32_t from, std::uint32_t to,
                                                std::uint32_t dimension) const;
  // Return the pairs whose usual way takes a dead link.
  [[nodiscard]] std::vector<Pair> affected(const Grid& grid) const;
  [[nodiscard]] std::vector<Pair> affected(const FatTree& tree) const;
  // Return the first dead link of a way; nullopt: the way is whole. `hops` receives its length then.
  template <class Shape>
  [[nodiscard]] std::optional<LinkEnd> first_dead(const Shape& shape, std::uint32_t from, std::uint32_t to, Route route,
                                                  std::uint32_t* hops = nullptr) const;

  std::vector<LinkEnd> dead_;                      // their beginnings, in order
  std::unordered_map<std::uint64_t, Route> ways_;  // by pair, where the usual way has a dead link
  bool steps_aside_ = false;
  double further_hops_ = 0;
};

}  // namespace gasmeter::sim
