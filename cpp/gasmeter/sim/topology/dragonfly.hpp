// The dragonfly: G groups of A routers with P terminals each. The routers of a group are all linked to each other, and
// every two groups share one global link.
//
// Vertices: terminals, then routers. A terminal has one port; ports of a router are its P terminals, the A - 1 other
// routers of its group in order, its global links. Global link j = 0..G-2 of group g leads to group g + j + 1 (modulo
// G) and belongs to router j mod A. Routers thus differ by at most one global link. G = A * H + 1 gives each router H.
//
// Routing is minimal: local, global, local, each where needed. Local links are taken in channel 1 within the
// destination's group and in channel 0 before: no cycle of waiting packets closes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "gasmeter/sim/topology/route.hpp"

namespace gasmeter::sim {

class Dragonfly {
 public:
  // All arguments are at least 1, their product at most 65536.
  Dragonfly(std::uint32_t groups, std::uint32_t routers_per_group, std::uint32_t terminals_per_router);

  [[nodiscard]] std::uint32_t terminals() const { return groups_ * routers_ * hosts_; }
  [[nodiscard]] std::uint32_t vertices() const { return terminals() + groups_ * routers_; }
  [[nodiscard]] std::uint32_t channels() const { return groups_ > 1 && routers_ > 1 ? 2 : 1; }
  [[nodiscard]] std::uint32_t ports(std::uint32_t vertex) const;
  [[nodiscard]] std::uint32_t max_ports() const { return ports(terminals()); }  // router 0 has the most

  [[nodiscard]] std::optional<LinkEnd> neighbour(std::uint32_t vertex, std::uint32_t port) const;
  [[nodiscard]] Hop next(std::uint32_t vertex, std::uint32_t to) const;
  [[nodiscard]] std::uint32_t hops(std::uint32_t from, std::uint32_t to) const;
  [[nodiscard]] double mean_hops() const;
  // Cut between two halves of the groups. With one group: between two halves of its routers. With one router: its
  // terminals.
  [[nodiscard]] std::uint64_t bisection_links() const;
  [[nodiscard]] std::string port_name(std::uint32_t vertex, std::uint32_t port) const;
  [[nodiscard]] std::vector<std::string> link_classes() const { return {"terminal", "local", "global"}; }
  [[nodiscard]] std::uint32_t port_class(std::uint32_t vertex, std::uint32_t port) const;

 private:
  // A router and the group it is in.
  struct Router {
    std::uint32_t group;
    std::uint32_t index;
    bool operator==(const Router&) const = default;
  };
  [[nodiscard]] Router router_of_vertex(std::uint32_t vertex) const;
  [[nodiscard]] Router router_of_terminal(std::uint32_t terminal) const;
  [[nodiscard]] std::uint32_t vertex_of(Router router) const;
  [[nodiscard]] std::uint32_t first_global_port() const { return hosts_ + routers_ - 1; }
  [[nodiscard]] std::uint32_t local_port(std::uint32_t index, std::uint32_t other) const;
  [[nodiscard]] LinkEnd global_link(std::uint32_t group, std::uint32_t other) const;

  std::uint32_t groups_;
  std::uint32_t routers_;  // per group
  std::uint32_t hosts_;    // terminals per router
};

}  // namespace gasmeter::sim
