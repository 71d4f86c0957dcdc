// The dragonfly of the Cray XC: a router serves four nodes; a chassis has a router in each of its 16 slots; six chassis
// are a group. The routers of a chassis are all linked to each other by its backplane. Those of one slot of different
// chassis are linked by copper cables, three links a pair. Each router has ten optical links to other groups.
//
// Vertices: terminals, then routers, group by group, chassis by chassis, slot by slot. A terminal has one port; ports
// of a router are its four terminals, the other slots of its chassis in order, the other chassis of its slot in order
// with three links each, its optical links. Of a group's optical links every two groups share as many as go to each
// pair alike; the rest is not there. The links to group g + 1 come first, then those to g + 2 (modulo G), and link l
// belongs to router l modulo the routers of a group: a pair's links are at different routers as far as there are such.
//
// A way is backplane, copper, optical, backplane, copper, each where needed. Of the optical links to the destination's
// group a way takes one that is nearest to where it begins: a router knows which links of its own group lead there, not
// where in that group they end. Which of equally near ones, and which of three copper links, follows from source,
// destination and the number of a flow by a hash: one flow keeps its order, many share all links.
//
// Ways with a detour are longer, for packets that need no order: within a group by any other router; between groups by
// a third group, to which an optical link of the first chassis leads and out of which one of the slot where it arrives.
//
// Channels: what a way takes is always later in the order
//   up to the router, backplane 0, optical 0, copper 0, optical 1, backplane 1, copper 1, down to the node
// so that no cycle of waiting packets closes. In its first group, where it leaves that for the destination's, a way
// takes backplane 0, copper 0 and optical 1. In its last it takes backplane 1 and copper 1. By a third group it takes
// backplane 0 and optical 0 into that (the first chassis: no copper), copper 0 and optical 1 out of it (the slot where
// it arrives: no backplane). By another router of its own group it takes backplane 0 and copper 0 up to there, and 1
// from there on.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "gasmeter/sim/route.hpp"

namespace gasmeter::sim {

// Flow of packets that need no order: each may go as the routers see fit.
inline constexpr std::uint32_t kUnordered = 0xffffffffU;

class CrayXc {
 public:
  static constexpr std::uint32_t kHosts = 4;        // hw.aries.nodes-per-router
  static constexpr std::uint32_t kMostSlots = 16;   // hw.aries.routers-per-chassis
  static constexpr std::uint32_t kMostChassis = 6;  // hw.aries.chassis-per-electrical-group
  static constexpr std::uint32_t kCopper = 3;       // links of a pair: hw.aries.copper-group-links-per-router
  static constexpr std::uint32_t kOptical = 10;     // hw.aries.global-optical-links-per-router

  // All at least 1, with no more nodes than 65536 and no more other groups than a group has optical links.
  CrayXc(std::uint32_t groups, std::uint32_t chassis, std::uint32_t slots);

  [[nodiscard]] std::uint32_t terminals() const { return groups_ * routers_ * kHosts; }
  [[nodiscard]] std::uint32_t vertices() const { return terminals() + groups_ * routers_; }
  [[nodiscard]] std::uint32_t channels() const { return groups_ * routers_ > 1 ? 2 : 1; }
  [[nodiscard]] std::uint32_t ports(std::uint32_t vertex) const;
  [[nodiscard]] std::uint32_t max_ports() const { return ports(terminals()); }  // router 0 has the most
  [[nodiscard]] std::optional<LinkEnd> neighbour(std::uint32_t vertex, std::uint32_t port) const;

  // Of unordered packets all is left to the first router.
  [[nodiscard]] Route route(std::uint32_t from, std::uint32_t to, std::uint32_t flow) const;
  [[nodiscard]] Hop next(std::uint32_t vertex, std::uint32_t to, Route& route) const;
  [[nodiscard]] std::uint32_t hops(std::uint32_t from, std::uint32_t to) const;
  // Over all flows.
  [[nodiscard]] double mean_hops() const;
  // Between two halves of the groups; of one group, between two halves of its chassis or of its slots, where there are
  // fewer; of one router, its terminals.
  [[nodiscard]] std::uint64_t bisection_links() const;
  [[nodiscard]] std::string port_name(std::uint32_t vertex, std::uint32_t port) const;
  [[nodiscard]] std::vector<std::string> link_classes() const { return {"terminal", "backplane", "copper", "optical"}; }
  [[nodiscard]] std::uint32_t port_class(std::uint32_t vertex, std::uint32_t port) const;

  // --- of unordered packets
  static constexpr std::uint32_t kMostChoices = 4;
  struct Choices {
    std::array<Route, kMostChoices> ways{};
    std::uint32_t count = 0;
  };
  // At the first router, of a packet to another one's terminal: two ways without a detour, then up to two with one, at
  // random by `number`.
  [[nodiscard]] Choices choices(std::uint32_t vertex, std::uint32_t to, std::uint64_t number) const;
  [[nodiscard]] static bool is_open(const Route& route) { return route.legs[2] == kOpen; }
  // Of a way from there, to the terminal.
  [[nodiscard]] std::uint32_t links_left(std::uint32_t vertex, std::uint32_t to, Route route) const;

 private:
  // A router and the group it is in.
  struct Router {
    std::uint32_t group;
    std::uint32_t index;  // chassis times slots, plus slot
    bool operator==(const Router&) const = default;
  };
  // What is still to come of a way, in Route::legs[2]. The first word holds what leads there: numbers of optical links,
  // the next one in the lower half, or the index of a router. The second one tells which copper links it takes.
  enum Phase : std::uint32_t { kLast, kOneOptical, kTwoOptical, kByRouter, kOpen };

  [[nodiscard]] Router router_of_vertex(std::uint32_t vertex) const;
  [[nodiscard]] Router router_of_terminal(std::uint32_t terminal) const;
  [[nodiscard]] std::uint32_t vertex_of(Router router) const;
  [[nodiscard]] std::uint32_t first_copper_port() const { return kHosts + slots_ - 1; }
  [[nodiscard]] std::uint32_t first_optical_port() const { return first_copper_port() + kCopper * (chassis_ - 1); }
  // How many groups `other` comes behind the one that follows `group`.
  [[nodiscard]] std::uint32_t offset(std::uint32_t group, std::uint32_t other) const;
  [[nodiscard]] LinkEnd optical_end(std::uint32_t group, std::uint32_t link) const;
  [[nodiscard]] std::uint32_t distance(std::uint32_t index, std::uint32_t other) const;
  [[nodiscard]] std::uint32_t step(std::uint32_t index, std::uint32_t other, std::uint32_t lane) const;
  // Nearest to a router of those that lead on by `offset`, at random.
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
