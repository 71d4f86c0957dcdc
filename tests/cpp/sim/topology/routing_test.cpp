// The ways that packets take through each topology.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "gasmeter/sim/topology/topology.hpp"
#include "walk.hpp"

namespace gasmeter::sim::routing_test {
namespace {

using testing::all_shapes;
using testing::ChannelDependencies;
using testing::for_each_pair;
using testing::Step;
using testing::walk;

std::array<std::uint32_t, 3> coordinates(const Topology& grid, std::uint32_t vertex) {
  std::array<std::uint32_t, 3> result{};
  for (std::size_t i = 0; i < grid.extents().size(); ++i) {
    result[i] = vertex % grid.extents()[i];
    vertex /= grid.extents()[i];
  }
  return result;
}

std::map<std::pair<std::uint32_t, std::uint32_t>, int> uniform_load(const Topology& topology) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, int> load;
  for_each_pair(topology, [&](std::uint32_t from, std::uint32_t to) {
    for (const Step& step : walk(topology, from, to)) ++load[{step.vertex, step.hop.port}];
  });
  return load;
}

TEST_CASE("every_way_arrives_by_the_fewest_links") {
  for (const std::string& name : all_shapes()) {
    CAPTURE(name);
    const Topology topology = Topology::parse(name);
    double sum = 0;
    std::uint32_t wrong_length = 0;
    std::uint32_t wrong_hops = 0;
    for (std::uint32_t from = 0; from < topology.terminals(); ++from) {
      const auto fewest = testing::distances(topology, from);
      CHECK(topology.hops(from, from) == 0);
      for (std::uint32_t to = 0; to < topology.terminals(); ++to) {
        if (from == to) continue;
        const auto length = static_cast<std::uint32_t>(walk(topology, from, to).size());
        // A dragonfly's way takes one global link, though two may be shorter, or another link may be nearer.
        const bool may_be_longer = testing::is_dragonfly(topology) || testing::is_xc(topology);
        if (length == 0 || (length != fewest[to] && !may_be_longer)) ++wrong_length;
        if (length != topology.hops(from, to)) ++wrong_hops;
        sum += length;
      }
    }
    CHECK(wrong_length == 0);
    CHECK(wrong_hops == 0);
    const double pairs = static_cast<double>(topology.terminals()) * topology.terminals();
    // On an XC the mean is over all flows.
    CHECK(topology.mean_hops() == doctest::Approx(sum / pairs).epsilon(testing::is_xc(topology) ? 0.02 : 1e-5));
  }
}

TEST_CASE("grids_go_in_dimension_order_and_change_channel_at_the_wrap_link") {
  for (const std::string& name : testing::grids()) {
    CAPTURE(name);
    const Topology grid = Topology::parse(name);
    std::uint32_t out_of_order = 0;
    std::uint32_t wrong_channel = 0;
    std::uint32_t wrong_direction = 0;
    for_each_pair(grid, [&](std::uint32_t from, std::uint32_t to) {
      std::uint32_t last = 0;
      std::uint32_t expected = 0;
      for (const auto& [vertex, hop] : walk(grid, from, to)) {
        const std::uint32_t dimension = hop.port / 2;
        if (dimension < last) ++out_of_order;
        if (dimension != last) expected = 0;
        last = dimension;
        const std::uint32_t extent = grid.extents()[dimension];
        const std::uint32_t at = coordinates(grid, vertex)[dimension];
        const std::uint32_t then = coordinates(grid, grid.neighbour(vertex, hop.port)->vertex)[dimension];
        const bool up = hop.port % 2 == 0;
        if (then != (at + (up ? 1 : extent - 1)) % extent) ++wrong_direction;
        if (up ? then < at : then > at) expected = 1;
        if (hop.channel != expected) ++wrong_channel;
      }
    });
    CHECK(out_of_order == 0);
    CHECK(wrong_channel == 0);
    CHECK(wrong_direction == 0);
  }
}

TEST_CASE("half_way_round_an_even_ring_goes_up_from_even_and_down_from_odd_coordinates") {
  for (std::uint32_t n = 2; n <= 10; n += 2) {
    const Topology ring = Topology::parse("ring:" + std::to_string(n));
    for (std::uint32_t from = 0; from < n; ++from) {
      Route route = ring.route(from, (from + n / 2) % n);
      CHECK(ring.next(from, (from + n / 2) % n, route).port == from % 2);
    }
  }
  // The coordinate decides, not the vertex number: in rows of three, vertices 3, 7 and 1 have y of 1, 2 and 0.
  const Topology torus = Topology::parse("torus2d:3x4");
  Route route = torus.route(3, 9);
  CHECK(torus.port_name(3, torus.next(3, 9, route).port) == "-y");
  route = torus.route(7, 1);
  CHECK(torus.port_name(7, torus.next(7, 1, route).port) == "+y");
  route = torus.route(1, 7);
  CHECK(torus.port_name(1, torus.next(1, 7, route).port) == "+y");
}

TEST_CASE("uniform_traffic_loads_all_links_of_a_torus_alike") {
  for (const char* name : {"ring:4", "ring:5", "ring:8", "torus2d:4x4", "torus3d:4x4x4", "torus3d:3x3x3",
                           "oneway-ring:2", "oneway-ring:7", "oneway-torus2d:4x4", "oneway-torus3d:3x3x3"}) {
    CAPTURE(name);
    const Topology torus = Topology::parse(name);
    const auto load = uniform_load(torus);
    CHECK(load.size() == torus.vertices() * torus.max_ports() / (torus.one_way() ? 2 : 1));
    CHECK(std::all_of(load.begin(), load.end(), [&](const auto& link) { return link.second == load.begin()->second; }));
  }
}

// Return the ways of the echoes of a way over one-way rings, in order.
std::vector<std::vector<Step>> echoes(const Topology& topology, std::uint32_t from, std::uint32_t to) {
  std::vector<std::vector<Step>> result;
  std::uint32_t entry = from;
  const std::vector<Step> way = walk(topology, from, to);
  for (std::size_t i = 0; i < way.size(); ++i) {
    const std::uint32_t end = i + 1 < way.size() ? way[i + 1].vertex : to;
    if (i + 1 < way.size() && way[i + 1].hop.port == way[i].hop.port) continue;
    result.push_back(walk(topology, end, entry));
    entry = end;
  }
  return result;
}

TEST_CASE("a_way_and_its_echoes_take_every_link_of_each_of_its_rings_once") {
  for (const std::string& name : all_shapes()) {
    const Topology topology = Topology::parse(name);
    if (!topology.one_way()) continue;
    CAPTURE(name);
    std::uint32_t wrong = 0;
    for_each_pair(topology, [&](std::uint32_t from, std::uint32_t to) {
      std::vector<Step> all = walk(topology, from, to);
      std::uint32_t links = 0;
      for (std::uint32_t dimension = 0; dimension < topology.extents().size(); ++dimension) {
        const bool used = coordinates(topology, from)[dimension] != coordinates(topology, to)[dimension];
        if (used) links += topology.extents()[dimension];
      }
      std::uint32_t at = from;
      for (const std::vector<Step>& echo : echoes(topology, from, to)) {
        const std::uint32_t dimension = echo.front().hop.port / 2;
        if (topology.ring_entry(from, echo.front().vertex, dimension) != at) ++wrong;
        at = echo.front().vertex;
        all.insert(all.end(), echo.begin(), echo.end());
      }
      std::set<std::pair<std::uint32_t, std::uint32_t>> different;
      for (const auto& [vertex, hop] : all) different.insert({vertex, hop.port});
      if (all.size() != links || different.size() != links) ++wrong;
    });
    CHECK(wrong == 0);
  }
}

TEST_CASE("waiting_packets_never_form_a_cycle") {
  for (const std::string& name : all_shapes()) {
    CAPTURE(name);
    const Topology topology = Topology::parse(name);
    ChannelDependencies dependencies;
    for_each_pair(topology, [&](std::uint32_t a, std::uint32_t b) {
      dependencies.add(walk(topology, a, b));
      if (!topology.one_way()) return;
      for (const std::vector<Step>& echo : echoes(topology, a, b)) dependencies.add(echo);
    });
    CHECK(dependencies.acyclic());
  }
  // Control: with one channel for all, these topologies would have cycles.
  for (const char* name : {"ring:5", "ring:8", "torus2d:5x2", "torus3d:2x3x7", "dragonfly:5x2x1", "dragonfly:9x4x2",
                           "xc:14x1x2", "xc:16x1x3", "oneway-ring:3", "oneway-torus2d:2x5"}) {
    CAPTURE(name);
    const Topology topology = Topology::parse(name);
    ChannelDependencies dependencies;
    for_each_pair(topology, [&](std::uint32_t a, std::uint32_t b) { dependencies.add(walk(topology, a, b), false); });
    CHECK_FALSE(dependencies.acyclic());
  }
}

TEST_CASE("the_longest_ways_fit_a_route") {
  const Topology line = Topology::parse("mesh2d:65536x1");
  CHECK(walk(line, 0, 65535).size() == 65535);
  CHECK(walk(line, 65535, 0).size() == 65535);
  const Topology one_way = Topology::parse("oneway-ring:32768");
  CHECK(walk(one_way, 0, 32767).size() == 32767);
  CHECK(walk(one_way, 32767, 32766).size() == 32767);
  const Topology ring = Topology::parse("ring:65536");
  for (const std::uint32_t from : {0U, 1U, 32767U, 32768U, 65534U, 65535U}) {
    CAPTURE(from);
    for (const std::uint32_t distance : {32767U, 32768U, 32769U}) {
      const std::uint32_t to = (from + distance) % 65536;
      const auto way = walk(ring, from, to);
      CHECK(way.size() == std::min(distance, 65536 - distance));
    }
  }
}

TEST_CASE("shifts_meet_on_no_link_of_a_fat_tree") {
  for (const char* name : {"fat-tree:2x4", "fat-tree:3x3", "fat-tree:4x2"}) {
    CAPTURE(name);
    const Topology tree = Topology::parse(name);
    for (std::uint32_t shift = 1; shift < tree.terminals(); ++shift) {
      std::map<std::pair<std::uint32_t, std::uint32_t>, int> load;
      for (std::uint32_t from = 0; from < tree.terminals(); ++from)
        for (const Step& step : walk(tree, from, (from + shift) % tree.terminals()))
          ++load[{step.vertex, step.hop.port}];
      CHECK(std::all_of(load.begin(), load.end(), [](const auto& link) { return link.second == 1; }));
    }
  }
}

TEST_CASE("a_dragonfly_way_takes_each_kind_of_link_at_most_where_it_must") {
  for (const std::string& name : testing::kSwitched) {
    const Topology topology = Topology::parse(name);
    if (!testing::is_dragonfly(topology)) continue;
    CAPTURE(name);
    std::uint32_t wrong = 0;
    for_each_pair(topology, [&](std::uint32_t from, std::uint32_t to) {
      std::string kinds;
      for (const auto& [vertex, hop] : walk(topology, from, to)) kinds += topology.port_name(vertex, hop.port)[0];
      const std::vector<std::string> minimal = {"rt", "rlt", "rgt", "rlgt", "rglt", "rlglt"};
      if (std::find(minimal.begin(), minimal.end(), kinds) == minimal.end()) ++wrong;
    });
    CHECK(wrong == 0);
  }
}

}  // namespace
}  // namespace gasmeter::sim::routing_test
