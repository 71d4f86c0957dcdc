// The wiring and the ways of a Cray XC, compared with its makers' description and with oracles that know only the
// wiring.
#include "gasmeter/sim/topology/cray_xc.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "gasmeter/sim/topology/topology.hpp"
#include "walk.hpp"

namespace gasmeter::sim::cray_xc_test {
namespace {

using testing::ChannelDependencies;
using testing::for_each_pair;
using testing::Step;
using testing::walk;
using testing::walk_on;

enum Class : std::uint32_t { terminal, backplane, copper, optical };

const std::vector<std::string> kSmall = {"xc:1x1x3", "xc:1x3x2", "xc:2x2x2",  "xc:3x1x2", "xc:3x2x3",
                                         "xc:4x2x1", "xc:9x1x2", "xc:14x1x2", "xc:14x2x1"};

// Facts about a shape that follow from its wiring alone.
class Wires {
 public:
  explicit Wires(const Topology& topology) : topology_(topology), group_(topology.vertices(), UINT32_MAX) {
    for (std::uint32_t vertex = topology.terminals(); vertex < topology.vertices(); ++vertex) {
      if (group_[vertex] == UINT32_MAX) fill(vertex, groups_++);
    }
  }
  [[nodiscard]] std::uint32_t groups() const { return groups_; }
  // Return the group of a vertex: all vertices that are reached without optical links.
  [[nodiscard]] std::uint32_t group_of(std::uint32_t vertex) const {
    return group_[vertex < topology_.terminals() ? topology_.neighbour(vertex, 0)->vertex : vertex];
  }
  [[nodiscard]] std::uint32_t router_of(std::uint32_t from) const { return topology_.neighbour(from, 0)->vertex; }

  // Return the distance from a router to each router of its group, over the group's links.
  [[nodiscard]] std::map<std::uint32_t, std::uint32_t> in_group(std::uint32_t router) const {
    std::map<std::uint32_t, std::uint32_t> result{{router, 0}};
    std::deque<std::uint32_t> open{router};
    while (!open.empty()) {
      const std::uint32_t at = open.front();
      open.pop_front();
      for (std::uint32_t port = 0; port < topology_.ports(at); ++port) {
        const std::uint32_t of = topology_.port_class(at, port);
        if (of != backplane && of != copper) continue;
        const std::uint32_t there = topology_.neighbour(at, port)->vertex;
        if (result.emplace(there, result[at] + 1).second) open.push_back(there);
      }
    }
    return result;
  }
  // Ends, in another group, of the optical links that begin nearest to a router.
  struct Nearest {
    std::uint32_t distance = UINT32_MAX;
    std::vector<std::uint32_t> ends;
  };
  [[nodiscard]] Nearest nearest(std::uint32_t router, std::uint32_t group) const {
    Nearest result;
    for (const auto& [at, distance] : in_group(router)) {
      for (std::uint32_t port = 0; port < topology_.ports(at); ++port) {
        if (topology_.port_class(at, port) != optical) continue;
        const std::uint32_t end = topology_.neighbour(at, port)->vertex;
        if (group_of(end) != group || distance > result.distance) continue;
        if (distance < result.distance) result = {distance, {}};
        result.ends.push_back(end);
      }
    }
    return result;
  }

 private:
  void fill(std::uint32_t router, std::uint32_t group) {
    for (const auto& [at, distance] : in_group(router)) group_[at] = group;
  }
  const Topology& topology_;
  std::vector<std::uint32_t> group_;
  std::uint32_t groups_ = 0;
};

// Return the classes of a way's links, a letter each.
std::string kinds_of(const Topology& topology, const std::vector<Step>& way) {
  std::string kinds;
  for (const auto& [vertex, hop] : way) kinds += "tbco"[topology.port_class(vertex, hop.port)];
  return kinds;
}

// Count the links of a router, by class.
std::array<std::uint32_t, 4> degrees(const Topology& topology, std::uint32_t router) {
  std::array<std::uint32_t, 4> result{};
  for (std::uint32_t port = 0; port < topology.ports(router); ++port) ++result[topology.port_class(router, port)];
  return result;
}

TEST_CASE("a_router_has_four_nodes_and_as_many_links_of_each_class_as_cray_says") {
  const Topology topology = Topology::parse("xc:9");
  CHECK(topology.terminals() == 9 * 384);
  CHECK(topology.vertices() == 9 * 384 + 9 * 96);
  std::uint32_t wrong = 0;
  for (std::uint32_t router = topology.terminals(); router < topology.vertices(); ++router) {
    if (degrees(topology, router) != std::array<std::uint32_t, 4>{4, 15, 15, 10}) ++wrong;
  }
  CHECK(wrong == 0);
  CHECK(degrees(Topology::parse("xc:1"), 384) == std::array<std::uint32_t, 4>{4, 15, 15, 0});
  CHECK(Topology::parse("xc:1").max_ports() == 34);
}

TEST_CASE("links_of_a_large_xc_lead_back_to_where_they_begin") {
  for (const char* name : {"xc:3", "xc:12"}) {
    CAPTURE(name);
    const Topology topology = Topology::parse(name);
    std::uint32_t wrong = 0;
    for (std::uint32_t vertex = 0; vertex < topology.vertices(); ++vertex) {
      for (std::uint32_t port = 0; port < topology.ports(vertex); ++port) {
        const auto end = topology.neighbour(vertex, port);
        if (!end || end->port >= topology.ports(end->vertex) || end->vertex == vertex) ++wrong;
        if (end && topology.neighbour(end->vertex, end->port) != LinkEnd{vertex, port}) ++wrong;
      }
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("three_copper_links_join_a_slot_of_two_chassis_and_one_link_two_slots_of_a_chassis") {
  const Topology topology = Topology::parse("xc:1");
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> links;
  std::uint32_t wrong = 0;
  for (std::uint32_t router = 384; router < 480; ++router) {
    for (std::uint32_t port = 4; port < topology.ports(router); ++port) {
      const std::uint32_t there = topology.neighbour(router, port)->vertex;
      ++links[{router, there}];
      const bool same_chassis = (router - 384) / 16 == (there - 384) / 16;
      const bool same_slot = (router - 384) % 16 == (there - 384) % 16;
      if (same_chassis == same_slot) ++wrong;
      if ((topology.port_class(router, port) == backplane) != same_chassis) ++wrong;
    }
  }
  for (const auto& [pair, count] : links) {
    if (count != ((pair.first - 384) % 16 == (pair.second - 384) % 16 ? 3 : 1)) ++wrong;
  }
  CHECK(links.size() == 96 * (15 + 5));
  CHECK(wrong == 0);
}

TEST_CASE("every_two_groups_share_as_many_optical_links_at_different_routers") {
  for (const auto& shared : {std::pair{"xc:2", 960U}, std::pair{"xc:9", 120U}, std::pair{"xc:12", 87U},
                             std::pair{"xc:34", 29U}, std::pair{"xc:170", 5U}, std::pair{"xc:14x1x2", 1U}}) {
    const char* const name = shared.first;
    const std::uint32_t each = shared.second;
    CAPTURE(name);
    const Topology topology = Topology::parse(name);
    const Wires wires(topology);
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::map<std::uint32_t, std::uint32_t>> links;
    std::uint32_t most = 0;
    for (std::uint32_t router = topology.terminals(); router < topology.vertices(); ++router) {
      for (std::uint32_t port = 4; port < topology.ports(router); ++port) {
        if (topology.port_class(router, port) != optical) continue;
        ++links[{wires.group_of(router), wires.group_of(topology.neighbour(router, port)->vertex)}][router];
      }
      most = std::max(most, degrees(topology, router)[optical]);
    }
    CHECK(links.size() == wires.groups() * (wires.groups() - 1));
    const std::uint32_t routers = (topology.vertices() - topology.terminals()) / wires.groups();
    CHECK(most == (each * (wires.groups() - 1) + routers - 1) / routers);
    CHECK(most <= 10);
    std::uint32_t wrong = 0;
    for (const auto& [pair, at] : links) {
      std::uint32_t sum = 0;
      for (const auto& [router, count] : at) {
        sum += count;
        if (count > (each + routers - 1) / routers) ++wrong;
      }
      if (sum != each) ++wrong;
    }
    CHECK(wrong == 0);
  }
}

// Count ways that are not minimal. Within a group a minimal way has the fewest links. To another group it takes an
// optical link nearest to its begin, and the fewest links from that link's end.
std::uint32_t ways_that_are_not_minimal(const Topology& topology, std::uint32_t stride, std::uint32_t flow) {
  const Wires wires(topology);
  std::uint32_t wrong = 0;
  for (std::uint32_t from = 0; from < topology.terminals(); from += stride) {
    const std::uint32_t first = wires.router_of(from);
    const auto near = wires.in_group(first);
    std::map<std::uint32_t, Wires::Nearest> exits;
    for (std::uint32_t to = 0; to < topology.terminals(); ++to) {
      if (to == from) continue;
      const std::vector<Step> way = walk(topology, from, to, flow);
      const std::string kinds = kinds_of(topology, way);
      const std::uint32_t last = wires.router_of(to);
      const std::uint32_t group = wires.group_of(last);
      if (group == wires.group_of(first)) {
        static const std::set<std::string> kWithin = {"tt", "tbt", "tct", "tbct"};
        if (!kWithin.contains(kinds) || kinds.size() != near.at(last) + 2) ++wrong;
        continue;
      }
      auto exit = exits.find(group);
      if (exit == exits.end()) exit = exits.emplace(group, wires.nearest(first, group)).first;
      const std::size_t out = kinds.find('o');
      static const std::set<std::string> kOut = {"t", "tb", "tc", "tbc"};
      static const std::set<std::string> kIn = {"t", "bt", "ct", "bct"};
      if (out == std::string::npos || !kOut.contains(kinds.substr(0, out)) || !kIn.contains(kinds.substr(out + 1))) {
        ++wrong;
        continue;
      }
      const std::uint32_t end = topology.neighbour(way[out].vertex, way[out].hop.port)->vertex;
      const auto& ends = exit->second.ends;
      if (out != exit->second.distance + 1 || std::find(ends.begin(), ends.end(), end) == ends.end()) ++wrong;
      if (kinds.size() - out - 2 != wires.in_group(end).at(last)) ++wrong;
    }
  }
  return wrong;
}

TEST_CASE("a_way_is_as_short_as_its_first_group_can_make_it") {
  for (const std::string& name : kSmall) {
    CAPTURE(name);
    const Topology topology = Topology::parse(name);
    for (const std::uint32_t flow : {0U, 1U, 99U}) CHECK(ways_that_are_not_minimal(topology, 1, flow) == 0);
  }
  CHECK(ways_that_are_not_minimal(Topology::parse("xc:24x2x2"), 7, 0) == 0);
  CHECK(ways_that_are_not_minimal(Topology::parse("xc:1"), 37, 0) == 0);
  CHECK(ways_that_are_not_minimal(Topology::parse("xc:3"), 211, 0) == 0);
}

TEST_CASE("mean_hops_are_over_all_optical_links_that_are_as_near") {
  for (const std::string& name : kSmall) {
    CAPTURE(name);
    const Topology topology = Topology::parse(name);
    const Wires wires(topology);
    double sum = 0;
    for (std::uint32_t first = topology.terminals(); first < topology.vertices(); ++first) {
      const auto near = wires.in_group(first);
      for (std::uint32_t last = topology.terminals(); last < topology.vertices(); ++last) {
        const std::uint32_t pairs = first == last ? 12 : 16;  // pairs of terminals, without pairs of equal terminals
        if (near.contains(last)) {
          sum += pairs * (2.0 + near.at(last));
          continue;
        }
        const Wires::Nearest exits = wires.nearest(first, wires.group_of(last));
        double links = 0;
        for (const std::uint32_t end : exits.ends) links += wires.in_group(end).at(last);
        sum += pairs * (3.0 + exits.distance + links / static_cast<double>(exits.ends.size()));
      }
    }
    const double all = static_cast<double>(topology.terminals()) * topology.terminals();
    CHECK(topology.mean_hops() == doctest::Approx(sum / all));
  }
}

// Return the fewest and most ways over a link of each class, among links that are taken at all.
std::map<std::uint32_t, std::pair<std::uint32_t, std::uint32_t>> load_of(
    const Topology& topology, const std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t>& load) {
  std::map<std::uint32_t, std::pair<std::uint32_t, std::uint32_t>> result;
  for (const auto& [link, count] : load) {
    auto& [least, most] = result.try_emplace(topology.port_class(link.first, link.second), count, count).first->second;
    least = std::min(least, count);
    most = std::max(most, count);
  }
  return result;
}

TEST_CASE("uniform_traffic_spreads_over_all_parallel_links") {
  for (const char* name : {"xc:1", "xc:3x2x3", "xc:5x3x4"}) {
    CAPTURE(name);
    const Topology topology = Topology::parse(name);
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> load;
    for_each_pair(topology, [&](std::uint32_t from, std::uint32_t to) {
      for (const auto& [vertex, hop] : walk(topology, from, to)) ++load[{vertex, hop.port}];
    });
    std::size_t links = 0;
    for (std::uint32_t vertex = 0; vertex < topology.vertices(); ++vertex) links += topology.ports(vertex);
    CHECK(load.size() == links);
    for (const auto& [kind, range] : load_of(topology, load)) {
      const auto of = kind;
      CAPTURE(of);
      // With some hundred ways a link, loads lie within some standard deviations of each other.
      if (of == copper) CHECK(range.second < 2 * range.first);
      if (of == optical) CHECK(range.second < 6 * range.first);
    }
  }
}

TEST_CASE("flows_of_one_pair_take_all_optical_links_that_are_as_near_and_all_copper_links") {
  const Topology topology = Topology::parse("xc:2x2x2");
  const Wires wires(topology);
  const std::uint32_t from = 0;
  const std::uint32_t to = 31;
  const Wires::Nearest exits = wires.nearest(wires.router_of(from), 1);
  CHECK(exits.ends.size() == 10);
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> load;
  for (std::uint32_t flow = 0; flow < 3000; ++flow) {
    const std::vector<Step> way = walk(topology, from, to, flow);
    for (const auto& [vertex, hop] : way) ++load[{vertex, hop.port}];
    std::uint32_t differing = 0;
    const std::vector<Step> again = walk(topology, from, to, flow);
    for (std::size_t i = 0; i < way.size(); ++i) differing += way[i].hop == again[i].hop ? 0U : 1U;
    CHECK(differing == 0);
  }
  std::map<std::uint32_t, std::uint32_t> links;
  for (const auto& [link, count] : load) ++links[topology.port_class(link.first, link.second)];
  CHECK(links[optical] == exits.ends.size());
  const auto range = load_of(topology, load);
  CHECK(range.at(optical).first > 240);
  CHECK(range.at(optical).second < 360);
  // Three copper links lead into each router of the last group's other chassis; all ways end with one of them or need
  // none.
  CHECK(links[copper] % 3 == 0);
  CHECK(links[copper] != 0);
}

// ---- unordered packets

// Visit the choices between routers, each by one of its terminals.
template <class Visit>
void for_each_choice(const Topology& topology, std::uint64_t numbers, const Visit& visit) {
  const CrayXc& shape = *topology.chooser();
  for_each_pair(topology, [&](std::uint32_t from, std::uint32_t to) {
    if (from % 4 != 0 || to % 4 != 1) return;
    const Route open = topology.route(from, to, kUnordered);
    if (!CrayXc::is_open(open)) return;
    const std::uint32_t router = topology.neighbour(from, 0)->vertex;
    for (std::uint64_t number = 0; number < numbers; ++number) {
      const CrayXc::Choices choices = shape.choices(router, to, number);
      for (std::size_t i = 0; i < choices.count; ++i) visit(from, to, i, choices.ways[i]);
    }
  });
}

TEST_CASE("choices_are_two_ways_without_a_detour_and_some_with_one") {
  const std::set<std::string> straight = {"bt",   "ct",    "bct",  "cbt",   "ot",    "bot",   "cot",
                                          "bcot", "obt",   "bobt", "cobt",  "bcobt", "oct",   "boct",
                                          "coct", "bcoct", "obct", "bobct", "cobct", "bcobct"};
  for (const std::string& name : kSmall) {
    CAPTURE(name);
    const Topology topology = Topology::parse(name);
    const Wires wires(topology);
    std::uint32_t wrong = 0;
    std::uint32_t detours = 0;
    for_each_choice(topology, 8, [&](std::uint32_t from, std::uint32_t to, std::size_t i, const Route& route) {
      const std::uint32_t router = wires.router_of(from);
      const std::vector<Step> way = walk_on(topology, router, to, route);
      const std::string kinds = kinds_of(topology, way);
      if (way.empty() || topology.chooser()->links_left(router, to, route) != way.size()) ++wrong;
      const auto optical_links = std::count(kinds.begin(), kinds.end(), 'o');
      const bool within = wires.group_of(from) == wires.group_of(to);
      if (i < 2) {
        if (!straight.contains(kinds) || optical_links != (within ? 0 : 1)) ++wrong;
        if (within && kinds.size() != wires.in_group(router).at(wires.router_of(to)) + 1) ++wrong;
        return;
      }
      ++detours;
      if (optical_links != (within ? 0 : 2)) ++wrong;
      if (kinds.size() > (within ? 5U : 7U)) ++wrong;
      // No way returns to a router or group.
      std::set<std::uint32_t> groups;
      std::set<std::uint32_t> routers;
      for (const Step& step : way) {
        groups.insert(wires.group_of(step.vertex));
        routers.insert(step.vertex);
      }
      if (routers.size() != way.size()) ++wrong;
      if (groups.size() != (within ? 1U : 3U)) ++wrong;
    });
    CHECK(wrong == 0);
    const bool has_third = wires.groups() > 2 || topology.vertices() - topology.terminals() > 2 * wires.groups();
    CHECK((detours != 0) == has_third);
  }
}

TEST_CASE("a_third_group_is_any_other_and_leaves_by_any_link") {
  const Topology topology = Topology::parse("xc:4x2x2");
  const Wires wires(topology);
  std::set<std::pair<std::uint32_t, std::uint32_t>> first;
  std::set<std::pair<std::uint32_t, std::uint32_t>> second;
  const std::uint32_t router = wires.router_of(0);
  const std::uint32_t to = topology.terminals() - 1;
  for (std::uint64_t number = 0; number < 4000; ++number) {
    const CrayXc::Choices choices = topology.chooser()->choices(router, to, number);
    for (std::size_t i = 2; i < choices.count; ++i) {
      bool seen = false;
      for (const auto& [vertex, hop] : walk_on(topology, router, to, choices.ways[i])) {
        if (topology.port_class(vertex, hop.port) != optical) continue;
        (seen ? second : first).insert({vertex, hop.port});
        seen = true;
      }
    }
  }
  // Two of three groups are reached by some of the ten links of each of two routers. From those groups' 13 links to the
  // last group, the links of the reached slots count.
  std::uint32_t expected = 0;
  for (const std::uint32_t at : {router, router + 1}) {
    for (std::uint32_t port = 0; port < topology.ports(at); ++port) {
      if (topology.port_class(at, port) != optical) continue;
      if (wires.group_of(topology.neighbour(at, port)->vertex) != wires.group_of(to)) ++expected;
    }
  }
  CHECK(first.size() == expected);
  CHECK(second.size() == 2 * 13);
}

TEST_CASE("waiting_unordered_packets_never_form_a_cycle") {
  for (const char* name : {"xc:1x3x2", "xc:3x2x3", "xc:4x2x2", "xc:9x1x2", "xc:14x1x2", "xc:14x2x1", "xc:24x2x2"}) {
    CAPTURE(name);
    const Topology topology = Topology::parse(name);
    ChannelDependencies dependencies;
    for_each_pair(topology, [&](std::uint32_t a, std::uint32_t b) { dependencies.add(walk(topology, a, b)); });
    for_each_choice(topology, 16, [&](std::uint32_t from, std::uint32_t to, std::size_t, const Route& route) {
      std::vector<Step> way = walk_on(topology, topology.neighbour(from, 0)->vertex, to, route);
      way.insert(way.begin(), {from, {0, 0}});
      dependencies.add(way);
    });
    CHECK(dependencies.acyclic());
  }
}

// Control: cycles would form if all optical links, or all of a group, were taken in one channel.
TEST_CASE("waiting_unordered_packets_would_form_a_cycle_in_fewer_channels") {
  const Topology topology = Topology::parse("xc:24x2x2");
  for (const std::uint32_t of : {optical, copper, backplane}) {
    CAPTURE(of);
    ChannelDependencies dependencies;
    for_each_choice(topology, 16, [&](std::uint32_t from, std::uint32_t to, std::size_t, const Route& route) {
      std::vector<Step> way = walk_on(topology, topology.neighbour(from, 0)->vertex, to, route);
      for (auto& [vertex, hop] : way) {
        if (topology.port_class(vertex, hop.port) == of) hop.channel = 0;
      }
      dependencies.add(way);
    });
    CHECK_FALSE(dependencies.acyclic());
  }
}

}  // namespace
}  // namespace gasmeter::sim::cray_xc_test
