// Ways in a word are the ways of Route.
#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <string>

#include "gasmeter/sim/engine/posted.hpp"
#include "gasmeter/sim/fabric/tree_ways.hpp"
#include "gasmeter/sim/fabric/way_table.hpp"
#include "gasmeter/sim/topology/topology.hpp"
#include "sim/topology/walk.hpp"

namespace gasmeter::sim::way_code_test {
namespace {

// Return the rest of a route without the directions of finished dimensions.
std::array<std::uint32_t, 3> legs_left(const Route& route) {
  std::array<std::uint32_t, 3> legs = route.legs;
  for (std::uint32_t i = 0; i < 3; ++i) {
    if (route.is_through(i)) legs[i] = 0;
  }
  return legs;
}

// Compare hop by hop, and the rest behind each hop; return the number of differences.
template <std::uint32_t kDimensions>
int differences(Route route) {
  using Code = WayCode<kDimensions>;
  int wrong = 0;
  std::uint64_t way = Code::pack(route);
  for (std::uint32_t left = route.hops(); left != 0; --left) {
    wrong += !Code::goes_on(way);
    wrong += way >> 60U != 0;
    const Hop hop = Code::hop(way);
    way = Code::behind(way);
    wrong += hop != route.next();
    wrong += Code::unpack(way).legs != legs_left(route);
    wrong += Code::pack(Code::unpack(way)) != way;
    const Express express(hop.port, hop.channel, way);
    wrong += express.word() == Express::kNone || express.way() != way || express.goes_on() != Code::goes_on(way);
    wrong += express.port() != hop.port || express.channel() != hop.channel;
  }
  return wrong + Code::goes_on(way);
}

// Compare the ways of a tree, hop by hop, to every terminal.
int differences_in(const Topology& topology, const TreeWays& ways) {
  int wrong = 0;
  testing::for_each_pair(topology, [&](std::uint32_t from, std::uint32_t to) {
    Route route = topology.route(from, to);
    std::uint64_t way = ways.way(from, to);
    for (std::uint32_t at = from; at != to;) {
      const Hop hop = TreeCode::hop(way);
      wrong += way == 0 || hop != topology.next(at, to, route);
      at = topology.neighbour(at, hop.port)->vertex;
      way = TreeCode::behind(way);
      const Express express(15, 0, way);
      wrong += express.word() == Express::kNone || express.way() != way || express.whole_port() != 15;
      wrong += TreeWays::walk(*topology.tree(), at, to) != way;
    }
    wrong += way != 0;
  });
  return wrong;
}

TEST_CASE("ways_through_trees_in_a_word_are_those_of_the_topology") {
  for (const char* const name :
       {"crossbar:2", "crossbar:16", "fat-tree:2x6", "fat-tree:3x3", "fat-tree:8x2", "fat-tree:8x3"}) {
    CAPTURE(name);
    const Topology topology = Topology::parse(name);
    const TreeWays ways(*topology.tree());
    REQUIRE(!ways.empty());
    CHECK(differences_in(topology, ways) == 0);
  }
  for (const char* const name : {"crossbar:17", "fat-tree:9x2", "fat-tree:2x7"}) {
    CAPTURE(name);
    CHECK(TreeWays(*Topology::parse(name).tree()).empty());
  }
}

TEST_CASE("ways_in_a_word_are_those_of_routes") {
  for (const std::string& name : testing::grids()) {
    CAPTURE(name);
    const Topology topology = Topology::parse(name);
    if (topology.one_way()) continue;
    int wrong = 0;
    testing::for_each_pair(topology, [&](std::uint32_t from, std::uint32_t to) {
      const Route route = topology.route(from, to);
      const std::size_t dimensions = topology.extents().size();
      wrong += dimensions == 1   ? differences<1>(route)
               : dimensions == 2 ? differences<2>(route)
                                 : differences<3>(route);
    });
    CHECK(wrong == 0);
  }
}

template <std::uint32_t kDimensions>
int wrong_ways(const Topology& topology) {
  const WayTable table = WayTable::of<kDimensions>(topology);
  int wrong = table.empty() ? 1 : 0;
  if (table.empty()) return wrong;
  testing::for_each_pair(topology, [&](std::uint32_t from, std::uint32_t to) {
    wrong += table.way(from, to) != WayCode<kDimensions>::pack(topology.route(from, to));
  });
  return wrong;
}

TEST_CASE("ways_that_are_looked_up_are_those_that_are_worked_out") {
  for (const std::string& name : testing::grids()) {
    CAPTURE(name);
    const Topology topology = Topology::parse(name);
    if (topology.one_way()) continue;
    const std::size_t dimensions = topology.extents().size();
    CHECK((dimensions == 1   ? wrong_ways<1>(topology)
           : dimensions == 2 ? wrong_ways<2>(topology)
                             : wrong_ways<3>(topology)) == 0);
  }
  CHECK_FALSE(WayTable::of<1>(Topology::parse("ring:64")).empty());
  CHECK(WayTable::of<1>(Topology::parse("ring:65")).empty());
}

TEST_CASE("the_longest_ways_fit_in_a_word") {
  CHECK(WayCode<3>::holds(63));
  CHECK_FALSE(WayCode<3>::holds(64));
  CHECK(WayCode<2>::holds(2047));
  CHECK_FALSE(WayCode<2>::holds(2048));
  CHECK(WayCode<1>::holds(65'535));
  const auto leg = [](std::uint32_t before, std::uint32_t after, bool down) { return Route::leg(before, after, down); };
  CHECK(differences<3>({{leg(63, 0, true), leg(0, 63, false), leg(1, 62, true)}}) == 0);
  CHECK(differences<2>({{leg(2047, 2047, false), leg(1, 2047, true), 0}}) == 0);
  CHECK(differences<1>({{leg(30'000, 2'768, true), 0, 0}}) == 0);
}

TEST_CASE("an_entry_that_comes_express_carries_a_packet_and_its_length") {
  struct Nothing : Action {
    Nothing() : Action(nullptr) {}
  } nothing;
  for (const unsigned each : {0U, 1U, 92U, 65'535U}) {
    const auto bytes = static_cast<std::uint16_t>(each);
    const Posted entry(Posted::at(NodeId{7}, 40), Posted::with_bytes(nothing, bytes), Express(5, 1, 0).word());
    CHECK(entry.is_express());
    CHECK(entry.carried() == &nothing);
    CHECK(entry.bytes() == bytes);
    CHECK(entry.node() == 7);
    CHECK(entry.offset() == 40);
  }
}

}  // namespace
}  // namespace gasmeter::sim::way_code_test
