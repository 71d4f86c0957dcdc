// The dragonfly of the Cray XC: a router serves four nodes; a chassis has a router in each of its 16 slots; six chassis
// are a group. The routers of a chassis are all linked to each other by its backplane. Those of one slot of different
// chassis are linked by copper cables, three links a pair. Each router has ten optical links to other groups.
//
// Vertices: terminals, then routers, group by group, chassis by chassis, slot by slot. A terminal has one port. Ports
// of a router are, in order: its four terminals; the other slots of its chassis; the other chassis of its slot, three
// links each; its optical links. All pairs of groups share equally many optical links; a remainder has no cable. The
// links to group g + 1 come first, then those to g + 2 (modulo G). Link l belongs to router l modulo the routers of a
// group. The links of a pair are thus at different routers, as far as there are enough.
//
// A way is backplane, copper, optical, backplane, copper, each where needed. A way takes the nearest optical link to
// the destination's group: a router knows which links of its own group lead there, but not where in that group they
// end. A hash of source, destination and flow number chooses among equally near optical links and among three copper
// links. One flow keeps its order; many flows share all links.
//
// Ways with a detour are longer, and serve packets that need no order. Within a group they lead over any other router.
// Between groups they lead over a third group: an optical link of the first chassis leads in, and an optical link of
// the arrival slot leads out.
//
// Channels: each link of a way is later in this order than the link before it,
//   up to the router, backplane 0, optical 0, copper 0, optical 1, backplane 1, copper 1, down to the node
// so that no cycle of waiting packets closes. In its first group, where it leaves for the destination's group, a way
// takes backplane 0, copper 0 and optical 1. In its last group it takes backplane 1 and copper 1. A detour by a third
// group takes backplane 0 and optical 0 into that group (over the first chassis: no copper), copper 0 and optical 1 out
// of it (over the arrival slot: no backplane). A detour by another router of the group takes backplane 0 and copper 0
// to that router, and channel 1 from there on.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "gasmeter/sim/topology/route.hpp"

namespace gasmeter::sim {

// Flow of packets that need no order: routers choose the way of each.
inline constexpr std::uint32_t kUnordered = 0xffffffffU;

class CrayXc {
 public:
  static constexpr std::uint32_t kHosts = 4;        // hw.aries.nodes-per-router
  static constexpr std::uint32_t kMostSlots = 16;   // hw.aries.routers-per-chassis
  static constexpr std::uint32_t kMostChassis = 6;  // hw.aries.chassis-per-electrical-group
  static constexpr std::uint32_t kCopper = 3;       // links of a pair: hw.aries.copper-group-links-per-router
  static constexpr std::uint32_t kOptical = 10;     // hw.aries.global-optical-links-per-router

  // All arguments are at least 1; at most 65536 nodes, and no more other groups than a group has optical links.
  CrayXc(std::uint32_t groups, std::uint32_t chassis, std::uint32_t slots);

  [[nodiscard]] std::uint32_t terminals() const { return groups_ * routers_ * kHosts; }
  [[nodiscard]] std::uint32_t vertices() const { return terminals() + groups_ * routers_; }
  [[nodiscard]] std::uint32_t channels() const { return groups_ * routers_ > 1 ? 2 : 1; }
  [[nodiscard]] std::uint32_t ports(std::uint32_t vertex) const;
  [[nodiscard]] std::uint32_t max_ports() const { return ports(terminals()); }  // router 0 has the most
  [[nodiscard]] std::optional<LinkEnd> neighbour(std::uint32_t vertex, std::uint32_t port) const;

  // An unordered packet gets an open route: its first router chooses.
  [[nodiscard]] Route route(std::uint32_t from, std::uint32_t to, std::uint32_t flow) const;
  [[nodiscard]] Hop next(std::uint32_t vertex, std::uint32_t to, Route& route) const;
  [[nodiscard]] std::uint32_t hops(std::uint32_t from, std::uint32_t to) const;
  // Mean over all flows.
  [[nodiscard]] double mean_hops() const;
  // Cut between two halves of the groups. With one group: between two halves of its chassis or of its slots, whichever
  // has fewer links. With one router: its terminals.
  [[nodiscard]] std::uint64_t bisection_links() const;
  [[nodiscard]] std::string port_name(std::uint32_t vertex, std::uint32_t port) const;
  [[nodiscard]] std::vector<std::string> link_classes() const { return {"terminal", "backplane", "copper", "optical"}; }
  [[nodiscard]] std::uint32_t port_class(std::uint32_t vertex, std::uint32_t port) const;

  // --- unordered packets
  static constexpr std::uint32_t kMostChoices = 4;
  struct Choices {
    std::array<Route, kMostChoices> ways{};
    std::uint32_t count = 0;
  };
  // Return the choices of a packet at its first router, towards the terminal of another router: two ways without a
  // detour, then up to two with a detour, drawn by `number`.
  [[nodiscard]] Choices choices(std::uint32_t vertex, std::uint32_t to, std::uint64_t number) const;
  [[nodiscard]] static bool is_open(const Route& route) { return route.legs[2] == kOpen; }
  // Count the links of a way from `vertex` to the terminal.
  [[nodiscard]] std::uint32_t links_left(std::uint32_t vertex, std::uint32_t to, Route route) const;

 private:
  // A router and the group it is in.
  struct Router {
    std::uint32_t group;
    std::uint32_t index;  // chassis times slots, plus slot
    bool operator==(const Router&) const = default;
  };
  // State of a way, in Route::legs[2]: which links are still to come. The first word holds what leads there: numbers of
  // optical links (the next in the lower half) or the index of a router. The second word tells which copper links the
  // way takes.
  enum Phase : std::uint32_t { kLast, kOneOptical, kTwoOptical, kByRouter, kOpen };

  [[nodiscard]] Router router_of_vertex(std::uint32_t vertex) const;
  [[nodiscard]] Router router_of_terminal(std::uint32_t terminal) const;
  [[nodiscard]] std::uint32_t vertex_of(Router router) const;
  [[nodiscard]] std::uint32_t first_copper_port() const { return kHosts + slots_ - 1; }
  [[nodiscard]] std::uint32_t first_optical_port() const { return first_copper_port() + kCopper * (chassis_ - 1); }
  // Count how many groups `other` comes behind the group that follows `group`.
  [[nodiscard]] std::uint32_t offset(std::uint32_t group, std::uint32_t other) const;
  [[nodiscard]] LinkEnd optical_end(std::uint32_t group, std::uint32_t link) const;
  [[nodiscard]] std::uint32_t distance(std::uint32_t index, std::uint32_t other) const;
  [[nodiscard]] std::uint32_t step(std::uint32_t index, std::uint32_t other, std::uint32_t lane) const;
  // Return the optical link that leads on by `offset` and is nearest to the router; draw among equally near links.
  [[nodiscard]] std::uint32_t exit(std::uint32_t index, std::uint32_t offset, std::uint64_t random) const;
  [[nodiscard]] Route straight(Router first, Router last, std::uint64_t random) const;
  [[nodiscard]] std::optional<Route> by_group(Router first, Router last, std::uint64_t random) const;
  [[nodiscard]] std::optional<Route> by_router(Router first, Router last, std::uint64_t random) const;
  void find_exits();

  std::uint32_t groups_;
  std::uint32_t chassis_;
  std::uint32_t slots_;
  std::uint32_t routers_;                  // per group
  std::uint32_t optical_ = 0;              // links of a pair of groups
  std::vector<std::uint32_t> first_exit_;  // for each offset and router
  std::vector<std::uint16_t> exits_;       // numbers of its nearest links
  double mean_way_out_ = 0;                // hops in the first group, where a way leaves it
};

}  // namespace gasmeter::sim
