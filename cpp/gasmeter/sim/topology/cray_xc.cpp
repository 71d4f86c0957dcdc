#include "gasmeter/sim/topology/cray_xc.hpp"

#include <algorithm>

#include "gasmeter/base/random.hpp"

namespace gasmeter::sim {

namespace {

// Draw a number below `count` from 16 of the random bits.
std::uint32_t pick(std::uint64_t random, unsigned digit, std::uint32_t count) {
  return static_cast<std::uint32_t>((random >> (16 * digit) & 0xffffU) * count >> 16U);
}

// Choose which of three copper links a way takes, in channel 0 and in channel 1: two digits of the second word.
std::uint32_t lanes(std::uint64_t random) {
  return pick(random, 1, CrayXc::kCopper) | pick(random, 2, CrayXc::kCopper) << 8U;
}
std::uint32_t lane_of(const Route& route, std::uint32_t channel) {
  return route.legs[1] >> (8 * channel) & 0xffU;
}

std::uint64_t between_halves(std::uint64_t of) {
  return (of / 2) * (of - of / 2);
}

}  // namespace

CrayXc::CrayXc(std::uint32_t groups, std::uint32_t chassis, std::uint32_t slots)
    : groups_(groups), chassis_(chassis), slots_(slots), routers_(chassis * slots) {
  if (groups == 1) return;
  optical_ = kOptical * routers_ / (groups - 1);
  find_exits();
}

// List the exits of each offset and router, by distance.
void CrayXc::find_exits() {
  std::uint64_t sum = 0;
  first_exit_.push_back(0);
  for (std::uint32_t first = 0; first != optical_ * (groups_ - 1); first += optical_) {
    for (std::uint32_t index = 0; index < routers_; ++index) {
      std::uint32_t least = distance(index, first % routers_);
      for (std::uint32_t link = first; link != first + optical_; ++link) {
        least = std::min(least, distance(index, link % routers_));
      }
      for (std::uint32_t link = first; link != first + optical_; ++link) {
        if (distance(index, link % routers_) == least) exits_.push_back(static_cast<std::uint16_t>(link));
      }
      first_exit_.push_back(static_cast<std::uint32_t>(exits_.size()));
      sum += least;
    }
  }
  mean_way_out_ = static_cast<double>(sum) / (double{1} * (groups_ - 1) * routers_);
}

CrayXc::Router CrayXc::router_of_vertex(std::uint32_t vertex) const {
  const std::uint32_t number = vertex - terminals();
  return {number / routers_, number % routers_};
}

CrayXc::Router CrayXc::router_of_terminal(std::uint32_t terminal) const {
  const std::uint32_t number = terminal / kHosts;
  return {number / routers_, number % routers_};
}

std::uint32_t CrayXc::vertex_of(Router router) const {
  return terminals() + router.group * routers_ + router.index;
}

std::uint32_t CrayXc::offset(std::uint32_t group, std::uint32_t other) const {
  return (other + groups_ - group - 1) % groups_;
}

// Pair the optical links of two groups: they end in the order in which they begin.
LinkEnd CrayXc::optical_end(std::uint32_t group, std::uint32_t link) const {
  const std::uint32_t forth = link / optical_;
  const std::uint32_t back = groups_ - 2 - forth;
  const std::uint32_t reverse = back * optical_ + link % optical_;
  return {vertex_of({(group + forth + 1) % groups_, reverse % routers_}), first_optical_port() + reverse / routers_};
}

std::uint32_t CrayXc::distance(std::uint32_t index, std::uint32_t other) const {
  return (index % slots_ != other % slots_ ? 1U : 0U) + (index / slots_ != other / slots_ ? 1U : 0U);
}

// Return the port towards another router of the group: first to its slot, then to its chassis.
std::uint32_t CrayXc::step(std::uint32_t index, std::uint32_t other, std::uint32_t lane) const {
  const std::uint32_t slot = index % slots_;
  const std::uint32_t to_slot = other % slots_;
  if (slot != to_slot) return kHosts + (to_slot < slot ? to_slot : to_slot - 1);
  const std::uint32_t chassis = index / slots_;
  const std::uint32_t to_chassis = other / slots_;
  return first_copper_port() + kCopper * (to_chassis < chassis ? to_chassis : to_chassis - 1) + lane;
}

std::uint32_t CrayXc::ports(std::uint32_t vertex) const {
  if (vertex < terminals()) return 1;
  const std::uint32_t links = groups_ > 1 ? optical_ * (groups_ - 1) : 0;
  return first_optical_port() + (links + routers_ - 1 - router_of_vertex(vertex).index) / routers_;
}

std::optional<LinkEnd> CrayXc::neighbour(std::uint32_t vertex, std::uint32_t port) const {
  if (vertex < terminals()) return LinkEnd{vertex_of(router_of_terminal(vertex)), vertex % kHosts};
  if (port < kHosts) return LinkEnd{(vertex - terminals()) * kHosts + port, 0};
  const auto [group, index] = router_of_vertex(vertex);
  if (port >= first_optical_port()) return optical_end(group, (port - first_optical_port()) * routers_ + index);
  const std::uint32_t slot = index % slots_;
  const std::uint32_t chassis = index / slots_;
  if (port < first_copper_port()) {
    const std::uint32_t place = port - kHosts;
    const std::uint32_t other = chassis * slots_ + (place < slot ? place : place + 1);
    return LinkEnd{vertex_of({group, other}), step(other, index, 0)};
  }
  const std::uint32_t place = (port - first_copper_port()) / kCopper;
  const std::uint32_t other = (place < chassis ? place : place + 1) * slots_ + slot;
  return LinkEnd{vertex_of({group, other}), step(other, index, (port - first_copper_port()) % kCopper)};
}

std::uint32_t CrayXc::exit(std::uint32_t index, std::uint32_t offset, std::uint64_t random) const {
  const std::uint32_t* const first = &first_exit_[offset * routers_ + index];
  return exits_[first[0] + pick(random, 0, first[1] - first[0])];
}

Route CrayXc::straight(Router first, Router last, std::uint64_t random) const {
  if (first.group == last.group) return {{0, lanes(random), kLast}};
  return {{exit(first.index, offset(first.group, last.group), random), lanes(random), kOneOptical}};
}

Route CrayXc::route(std::uint32_t from, std::uint32_t to, std::uint32_t flow) const {
  const Router first = router_of_terminal(from);
  const Router last = router_of_terminal(to);
  if (flow == kUnordered && first != last) return {{0, 0, kOpen}};
  return straight(first, last, splitmix64(splitmix64(std::uint64_t{from} << 32U | to) + flow));
}

Hop CrayXc::next(std::uint32_t vertex, std::uint32_t to, Route& route) const {
  if (vertex < terminals()) return {0, 0};
  const Router router = router_of_vertex(vertex);
  if (route.legs[2] == kByRouter) {
    if (router.index != route.legs[0]) return {step(router.index, route.legs[0], lane_of(route, 0)), 0};
    route.legs[2] = kLast;
  }
  if (route.legs[2] == kLast) {
    const Router last = router_of_terminal(to);
    if (router == last) return {to % kHosts, 0};
    return {step(router.index, last.index, lane_of(route, 1)), 1};
  }
  const std::uint32_t link = route.legs[0] & 0xffffU;
  if (router.index != link % routers_) return {step(router.index, link % routers_, lane_of(route, 0)), 0};
  const std::uint32_t channel = route.legs[2] == kOneOptical ? 1 : 0;
  route.legs[0] >>= 16U;
  --route.legs[2];
  return {first_optical_port() + link / routers_, channel};
}

std::uint32_t CrayXc::links_left(std::uint32_t vertex, std::uint32_t to, Route route) const {
  std::uint32_t links = 0;
  for (; vertex != to; ++links) vertex = neighbour(vertex, next(vertex, to, route).port)->vertex;
  return links;
}

std::uint32_t CrayXc::hops(std::uint32_t from, std::uint32_t to) const {
  return links_left(from, to, route(from, to, 0));
}

// The destination may be anywhere in the last group, wherever a way enters that group.
double CrayXc::mean_hops() const {
  const double in_group = 2 - 1.0 / slots_ - 1.0 / chassis_;
  const double other_group = 1 - 1.0 / groups_;
  return 2 * (1 - 1.0 / terminals()) + other_group * (mean_way_out_ + 1) + in_group;
}

std::uint64_t CrayXc::bisection_links() const {
  if (groups_ > 1) return between_halves(groups_) * optical_;
  if (routers_ == 1) return kHosts / 2;
  const std::uint64_t copper = between_halves(chassis_) * kCopper * slots_;
  const std::uint64_t backplane = between_halves(slots_) * chassis_;
  if (chassis_ == 1) return backplane;
  return slots_ == 1 ? copper : std::min(copper, backplane);
}

std::uint32_t CrayXc::port_class(std::uint32_t vertex, std::uint32_t port) const {
  if (vertex < terminals() || port < kHosts) return 0;
  if (port < first_copper_port()) return 1;
  return port < first_optical_port() ? 2 : 3;
}

std::string CrayXc::port_name(std::uint32_t vertex, std::uint32_t port) const {
  if (vertex < terminals()) return "router";
  const std::array<std::uint32_t, 4> first{0, kHosts, first_copper_port(), first_optical_port()};
  const std::uint32_t of = port_class(vertex, port);
  return link_classes()[of] + " " + std::to_string(port - first[of]);
}

// ---- ways with a detour

CrayXc::Choices CrayXc::choices(std::uint32_t vertex, std::uint32_t to, std::uint64_t number) const {
  const Router first = router_of_vertex(vertex);
  const Router last = router_of_terminal(to);
  Choices all;
  std::uint64_t random = splitmix64(splitmix64(std::uint64_t{vertex} << 32U | to) + number);
  const auto add = [&](const std::optional<Route>& way) {
    if (way) all.ways[all.count++] = *way;
    random = splitmix64(random);
  };
  add(straight(first, last, random));
  // Within a group the way by the destination's slot and the way by its chassis are alike: the second choice goes to
  // the chassis first.
  const bool by_corner = first.group == last.group && distance(first.index, last.index) == 2;
  add(by_corner ? Route{{last.index / slots_ * slots_ + first.index % slots_, lanes(random), kByRouter}}
                : straight(first, last, random));
  for (int detour = 0; detour < 2; ++detour) {
    add(first.group == last.group ? by_router(first, last, random) : by_group(first, last, random));
  }
  return all;
}

std::optional<Route> CrayXc::by_router(Router first, Router last, std::uint64_t random) const {
  const std::uint32_t index = pick(random, 0, routers_);
  if (index == first.index || index == last.index) return std::nullopt;
  const auto same_chassis = [this](std::uint32_t a, std::uint32_t b) { return a / slots_ == b / slots_; };
  const auto same_slot = [this](std::uint32_t a, std::uint32_t b) { return a % slots_ == b % slots_; };
  // A way from there would come back through the first router; a way to there would go through the last router.
  if (same_chassis(first.index, index) && same_slot(first.index, last.index)) return std::nullopt;
  if (same_chassis(first.index, last.index) && same_slot(index, last.index)) return std::nullopt;
  return Route{{index, lanes(random), kByRouter}};
}

// The first optical link may be any link of the first router's chassis. The second may be any link of the slot where
// the first ends.
std::optional<Route> CrayXc::by_group(Router first, Router last, std::uint64_t random) const {
  const std::uint32_t links = optical_ * (groups_ - 1);
  const std::uint32_t out = first.index / slots_ * slots_ + pick(random, 0, slots_);
  const std::uint32_t link = out + routers_ * pick(random, 3, (links + routers_ - 1 - out) / routers_);
  if (link >= links) return std::nullopt;  // a router without an optical link
  const auto [group, index] = router_of_vertex(optical_end(first.group, link).vertex);
  if (group == last.group) return std::nullopt;
  const std::uint32_t begin = offset(group, last.group) * optical_;
  const std::uint32_t end = begin + optical_;
  const std::uint32_t first_of_slot = begin + (index % slots_ + slots_ - begin % slots_) % slots_;
  if (first_of_slot >= end) return std::nullopt;
  const std::uint32_t of_slot = (end - first_of_slot + slots_ - 1) / slots_;
  const std::uint32_t second = first_of_slot + slots_ * pick(splitmix64(random), 0, of_slot);
  return Route{{link | second << 16U, lanes(random), kTwoOptical}};
}

}  // namespace gasmeter::sim
