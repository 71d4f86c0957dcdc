#include "gasmeter/sim/topology/dragonfly.hpp"

namespace gasmeter::sim {

Dragonfly::Dragonfly(std::uint32_t groups, std::uint32_t routers_per_group, std::uint32_t terminals_per_router)
    : groups_(groups), routers_(routers_per_group), hosts_(terminals_per_router) {}

Dragonfly::Router Dragonfly::router_of_vertex(std::uint32_t vertex) const {
  const std::uint32_t number = vertex - terminals();
  return {number / routers_, number % routers_};
}

Dragonfly::Router Dragonfly::router_of_terminal(std::uint32_t terminal) const {
  const std::uint32_t number = terminal / hosts_;
  return {number / routers_, number % routers_};
}

std::uint32_t Dragonfly::vertex_of(Router router) const {
  return terminals() + router.group * routers_ + router.index;
}

std::uint32_t Dragonfly::local_port(std::uint32_t index, std::uint32_t other) const {
  return hosts_ + (other < index ? other : other - 1);
}

// Return the router of `group`, and its port, that lead to group `other`.
LinkEnd Dragonfly::global_link(std::uint32_t group, std::uint32_t other) const {
  const std::uint32_t link = (other + groups_ - group - 1) % groups_;
  return {vertex_of({group, link % routers_}), first_global_port() + link / routers_};
}

std::uint32_t Dragonfly::ports(std::uint32_t vertex) const {
  if (vertex < terminals()) return 1;
  const std::uint32_t index = router_of_vertex(vertex).index;
  const std::uint32_t global_links = (groups_ - 1 + routers_ - 1 - index) / routers_;
  return first_global_port() + global_links;
}

std::optional<LinkEnd> Dragonfly::neighbour(std::uint32_t vertex, std::uint32_t port) const {
  if (vertex < terminals()) return LinkEnd{vertex_of(router_of_terminal(vertex)), vertex % hosts_};
  const auto [group, index] = router_of_vertex(vertex);
  if (port < hosts_) return LinkEnd{(vertex - terminals()) * hosts_ + port, 0};
  if (port < first_global_port()) {
    const std::uint32_t place = port - hosts_;
    const std::uint32_t other = place < index ? place : place + 1;
    return LinkEnd{vertex_of({group, other}), local_port(other, index)};
  }
  const std::uint32_t link = (port - first_global_port()) * routers_ + index;
  return global_link((group + link + 1) % groups_, group);
}

Hop Dragonfly::next(std::uint32_t vertex, std::uint32_t to) const {
  if (vertex < terminals()) return {0, 0};
  const Router router = router_of_vertex(vertex);
  const Router last = router_of_terminal(to);
  if (router == last) return {to % hosts_, 0};
  if (router.group == last.group) return {local_port(router.index, last.index), channels() - 1};
  const LinkEnd exit = global_link(router.group, last.group);
  if (exit.vertex == vertex) return {exit.port, 0};
  return {local_port(router.index, router_of_vertex(exit.vertex).index), 0};
}

std::uint32_t Dragonfly::hops(std::uint32_t from, std::uint32_t to) const {
  if (from == to) return 0;
  const Router first = router_of_terminal(from);
  const Router last = router_of_terminal(to);
  if (first.group == last.group) return first == last ? 2 : 3;
  const bool local_before = global_link(first.group, last.group).vertex != vertex_of(first);
  const bool local_after = global_link(last.group, first.group).vertex != vertex_of(last);
  return 3U + (local_before ? 1 : 0) + (local_after ? 1 : 0);
}

double Dragonfly::mean_hops() const {
  const double groups = groups_;
  const double routers = routers_;
  const double other_group = (groups - 1) / groups;
  const double other_router = (routers - 1) / routers;  // the chance that a local hop is needed
  return 2 * (1 - 1.0 / terminals()) + other_group * (1 + 2 * other_router) + (1 - other_group) * other_router;
}

std::uint64_t Dragonfly::bisection_links() const {
  const auto between_halves = [](std::uint64_t of) { return (of / 2) * (of - of / 2); };
  if (groups_ > 1) return between_halves(groups_);
  return routers_ > 1 ? between_halves(routers_) : hosts_ / 2;
}

std::uint32_t Dragonfly::port_class(std::uint32_t vertex, std::uint32_t port) const {
  if (vertex < terminals() || port < hosts_) return 0;
  return port < first_global_port() ? 1 : 2;
}

std::string Dragonfly::port_name(std::uint32_t vertex, std::uint32_t port) const {
  if (vertex < terminals()) return "router";
  if (port < hosts_) return "terminal " + std::to_string(port);
  if (port < first_global_port()) return "local " + std::to_string(port - hosts_);
  return "global " + std::to_string(port - first_global_port());
}

}  // namespace gasmeter::sim
