// Slow nodes, slow links and dead links. Golden times: tests/golden/faults.md.
#include "gasmeter/sim/topology/faults.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "gasmeter/base/error.hpp"
#include "gasmeter/sim/topology/topology.hpp"
#include "sim/fabric/script.hpp"
#include "walk.hpp"

namespace gasmeter::sim::faults_test {
namespace {

using testing::ChannelDependencies;
using testing::error_of;
using testing::for_each_pair;
using testing::Script;
using testing::Seen;
using testing::Step;
using testing::walk;

// List the links once each, between vertices that no other link joins.
std::vector<std::string> links_of(const Topology& topology) {
  std::vector<std::string> links;
  for (std::uint32_t vertex = 0; vertex < topology.vertices(); ++vertex) {
    for (std::uint32_t port = 0; port < topology.ports(vertex); ++port) {
      const auto end = topology.neighbour(vertex, port);
      if (end && vertex < end->vertex) links.push_back(std::to_string(vertex) + "-" + std::to_string(end->vertex));
    }
  }
  return links;
}

std::vector<std::pair<std::uint32_t, std::uint32_t>> links_on(const Topology& topology, std::uint32_t from,
                                                              std::uint32_t to) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> links;
  for (const Step& step : walk(topology, from, to)) links.emplace_back(step.vertex, step.hop.port);
  return links;
}

struct Ways {
  std::uint32_t lost = 0;     // pairs without a way
  std::uint32_t shorter = 0;  // ways shorter than without dead links
  std::uint32_t changed = 0;  // ways that changed without need
  std::uint32_t miscounted = 0;
  double hops = 0;
  bool acyclic = false;
};

Ways ways_of(const Topology& faulty, const Topology& healthy) {
  Ways ways;
  ChannelDependencies dependencies;
  for_each_pair(faulty, [&](std::uint32_t from, std::uint32_t to) {
    const std::vector<Step> way = walk(faulty, from, to);
    dependencies.add(way);
    if (way.empty()) ++ways.lost;
    if (way.size() < healthy.hops(from, to)) ++ways.shorter;
    if (way.size() != faulty.hops(from, to)) ++ways.miscounted;
    const auto usual = links_on(healthy, from, to);
    const bool whole = std::all_of(usual.begin(), usual.end(), [&](const auto& link) {
      return faulty.neighbour(link.first, link.second).has_value();
    });
    if (whole && usual != links_on(faulty, from, to)) ++ways.changed;
    ways.hops += static_cast<double>(way.size());
  });
  ways.acyclic = dependencies.acyclic();
  return ways;
}

void check_ways(const Topology& faulty, const Topology& healthy) {
  CAPTURE(faulty.name());
  const Ways ways = ways_of(faulty, healthy);
  CHECK(ways.lost == 0);
  CHECK(ways.shorter == 0);
  CHECK(ways.changed == 0);
  CHECK(ways.miscounted == 0);
  CHECK(ways.acyclic);
  const double pairs = static_cast<double>(healthy.terminals()) * healthy.terminals();
  CHECK(faulty.mean_hops() == doctest::Approx(ways.hops / pairs).epsilon(1e-9));
}

TEST_CASE("any_one_dead_link_of_a_grid_leaves_all_pairs_a_way") {
  for (const std::string name :
       {"ring:3",        "ring:4",        "ring:5",        "ring:6",        "ring:8",        "ring:9",
        "mesh2d:2x2",    "mesh2d:3x2",    "mesh2d:4x4",    "mesh2d:5x3",    "torus2d:3x3",   "torus2d:2x3",
        "torus2d:3x2",   "torus2d:2x5",   "torus2d:4x2",   "torus2d:4x4",   "torus2d:5x4",   "torus2d:1x6",
        "mesh3d:2x2x2",  "mesh3d:3x2x3",  "mesh3d:1x3x3",  "torus3d:2x2x2", "torus3d:2x2x3", "torus3d:2x3x2",
        "torus3d:3x2x2", "torus3d:2x4x3", "torus3d:4x2x3", "torus3d:3x4x2", "torus3d:3x3x3"}) {
    const Topology healthy = Topology::parse(name);
    for (const std::string& link : links_of(healthy)) check_ways(Topology::parse(name + "/dead:" + link), healthy);
  }
  const Topology large = Topology::parse("torus3d:4x4x4");
  for (const char* link : {"0-1", "0-3", "21-25", "26-42", "47-63", "15-63"}) {
    check_ways(Topology::parse("torus3d:4x4x4/dead:" + std::string(link)), large);
  }
}

TEST_CASE("what_is_accepted_of_two_dead_links_has_ways_that_never_wait_in_a_circle") {
  for (const auto& [name, least] :
       {std::pair{"mesh2d:3x3", 46}, std::pair{"mesh2d:4x3", 104}, std::pair{"torus2d:2x4", 30},
        std::pair{"torus2d:3x3", 120}, std::pair{"mesh3d:2x2x2", 66}}) {
    const Topology healthy = Topology::parse(name);
    const std::vector<std::string> links = links_of(healthy);
    int accepted = 0;
    for (std::size_t a = 0; a < links.size(); ++a) {
      for (std::size_t b = a + 1; b < links.size(); ++b) {
        const std::string text = std::string(name) + "/dead:" + links[a] + "/dead:" + links[b];
        if (!error_of(text).empty()) continue;
        ++accepted;
        check_ways(Topology::parse(text), healthy);
      }
    }
    CAPTURE(healthy.name());
    CHECK(accepted >= least);
  }
}

TEST_CASE("any_one_dead_link_between_switches_of_a_fat_tree_costs_no_hop") {
  for (const std::string name : {"fat-tree:2x2", "fat-tree:2x3", "fat-tree:3x2", "fat-tree:4x2", "fat-tree:2x4"}) {
    const Topology healthy = Topology::parse(name);
    for (const std::string& link : links_of(healthy)) {
      const std::string text = name + "/dead:" + link;
      if (std::stoul(link) < healthy.terminals()) {
        CHECK(error_of(text).find(": node " + std::to_string(std::stoul(link)) + " is cut off;") != std::string::npos);
        continue;
      }
      const Topology faulty = Topology::parse(text);
      check_ways(faulty, healthy);
      CHECK(faulty.mean_hops() == healthy.mean_hops());
    }
  }
}

// Count the links that lead out of some vertices.
std::uint64_t links_out_of(const Topology& topology, const std::vector<bool>& inside) {
  std::uint64_t count = 0;
  for (std::uint32_t vertex = 0; vertex < topology.vertices(); ++vertex) {
    for (std::uint32_t port = 0; inside[vertex] && port < topology.ports(vertex); ++port) {
      const auto end = topology.neighbour(vertex, port);
      if (end && !inside[end->vertex]) ++count;
    }
  }
  return count;
}

// Count over all blocks of neighbouring rows, wherever they begin on a ring.
std::uint64_t counted_bisection_of_grid(const Topology& grid) {
  std::uint64_t fewest = ~std::uint64_t{0};
  for (std::size_t i = 0; i < grid.extents().size(); ++i) {
    const std::uint32_t extent = grid.extents()[i];
    if (extent == 1) continue;
    const bool is_line = grid.name().starts_with("mesh") || extent == 2;
    for (std::uint32_t first = 0; first < (is_line ? 1 : extent); ++first) {
      for (const std::uint32_t rows : {extent / 2, extent - extent / 2}) {
        std::vector<bool> inside;
        for (const auto& place : grid.coordinates()) inside.push_back((place[i] + extent - first) % extent < rows);
        fewest = std::min(fewest, links_out_of(grid, inside));
      }
    }
  }
  return fewest;
}

// Count over any half of the subtrees, whose switches are those that the terminals reach without the top ones.
std::uint64_t counted_bisection_of_tree(const Topology& tree, std::uint32_t arity) {
  const std::uint32_t top = tree.terminals() / arity;  // the number of switches is the same
  std::uint64_t fewest = ~std::uint64_t{0};
  for (std::uint32_t half = 0; half < (1U << arity); ++half) {
    std::vector<bool> inside(tree.vertices());
    std::uint32_t count = 0;
    for (std::uint32_t i = 0; i < arity; ++i) {
      if ((half >> i & 1U) == 0) continue;
      ++count;
      for (std::uint32_t vertex = i * top; vertex < (i + 1) * top; ++vertex) inside[vertex] = true;
    }
    if (count != arity / 2) continue;
    for (std::uint32_t vertex = 0; vertex < tree.vertices() - top; ++vertex) {
      for (std::uint32_t port = 0; inside[vertex] && port < tree.ports(vertex); ++port) {
        const auto end = tree.neighbour(vertex, port);
        if (end && end->vertex < tree.vertices() - top) inside[end->vertex] = true;
      }
    }
    fewest = std::min(fewest, links_out_of(tree, inside));
  }
  return fewest;
}

TEST_CASE("bisections_are_those_of_the_halves_that_dead_links_leave_worst_joined") {
  const auto bisection = [](const char* name) { return Topology::parse(name).bisection_links(); };
  CHECK(bisection("mesh2d:8x8/dead:3-4") == 7);
  CHECK(bisection("mesh2d:8x8/dead:2-3") == 8);
  CHECK(bisection("ring:8/dead:0-1") == 1);
  CHECK(bisection("torus2d:8x8/dead:0-1/dead:12-13") == 14);  // opposite each other
  CHECK(bisection("torus2d:8x8/dead:0-1/dead:9-17") == 15);   // across x, across y
  CHECK(bisection("fat-tree:4x2/dead:16-20") == 7);
  CHECK(bisection("fat-tree:4x3/dead:64-80") == 32);  // below the top level
  CHECK(bisection("mesh2d:8x8/slow:3-4x1000") == 8);
  CHECK(bisection("dragonfly:9x4x2/slow:72-73x10") == 20);
  for (const std::string name : {"ring:3", "ring:5", "ring:8", "mesh2d:4x4", "mesh2d:5x3", "torus2d:4x2", "torus2d:5x4",
                                 "torus2d:1x6", "mesh3d:3x2x3", "torus3d:2x3x2", "torus3d:3x3x3"}) {
    const std::vector<std::string> links = links_of(Topology::parse(name));
    for (std::size_t a = 0; a < links.size(); ++a) {
      const Topology faulty = Topology::parse(name + "/dead:" + links[a]);
      CAPTURE(faulty.name());
      CHECK(faulty.bisection_links() == counted_bisection_of_grid(faulty));
      const std::string two = faulty.name() + "/dead:" + links[(a + 5) % links.size()];
      if (!error_of(two).empty()) continue;
      CAPTURE(two);
      CHECK(Topology::parse(two).bisection_links() == counted_bisection_of_grid(Topology::parse(two)));
    }
  }
  for (const auto& [name, arity] : {std::pair{"fat-tree:2x3", 2U}, std::pair{"fat-tree:3x2", 3U},
                                    std::pair{"fat-tree:3x3", 3U}, std::pair{"fat-tree:4x2", 4U}}) {
    const std::vector<std::string> links = links_of(Topology::parse(name));
    for (std::size_t a = 0; a < links.size(); ++a) {
      const std::string text = name + ("/dead:" + links[a]) + "/dead:" + links[(a + 1) % links.size()];
      if (!error_of(text).empty()) continue;
      CAPTURE(text);
      CHECK(Topology::parse(text).bisection_links() == counted_bisection_of_tree(Topology::parse(text), arity));
    }
  }
}

TEST_CASE("faults_have_one_spelling") {
  const auto name = [](const char* text) { return Topology::parse(text).name(); };
  CHECK(name("torus2d:4x4/slow:5x4.50/slow:6-5x10/dead:1-0/slow:2x1") ==
        "torus2d:4x4/dead:0-1/slow:5-6x10/slow:2x1/slow:5x4.5");
  CHECK(name("xc:1x1x2/slow:0x2.125") == "xc:1x1x2/slow:0x2.125");
  CHECK(name("dragonfly:3x2x1/slow:0-6x3") == "dragonfly:3x2x1/slow:0-6x3");
  CHECK(name("ring:8") == "ring:8");
}

TEST_CASE("what_is_wrong_with_faults_is_told_in_a_line") {
  const auto tells = [](const std::string& text, const std::string& what) {
    const std::string error = error_of(text);
    CAPTURE(text);
    CAPTURE(error);
    CHECK(error.find(what) != std::string::npos);
    CHECK(error.find('\n') == std::string::npos);
  };
  for (const char* text :
       {"ring:8/", "ring:8/dead", "ring:8/dead:1", "ring:8/dead:1-1", "ring:8/slow:1", "ring:8/slow:1x0",
        "ring:8/slow:1x0.5", "ring:8/slow:1x1001", "ring:8/slow:1x1000.001", "ring:8/slow:1x2.", "ring:8/slow:1x1.2345",
        "ring:8/slow:-1x2", "ring:8/dead:0-1x2", "ring:8/down:0-1"}) {
    tells(text, "is no fault; allowed are /dead:A-B");
  }
  tells("ring:8/slow:8x2", "there is no node 8; ring:8 has 0..7");
  tells("crossbar:4/slow:4x2", "there is no node 4; crossbar:4 has 0..3");
  tells("ring:8/dead:0-2", "no link joins 0 and 2; allowed are neighbours among 0..7");
  tells("fat-tree:2x2/slow:0-99x2", "allowed are neighbours among 0..7, nodes first, then switches");
  tells("ring:8/slow:1x2/slow:1x3", "node 1 is slow twice");
  tells("ring:8/dead:0-1/slow:1-0x2", "link 0-1 has two faults");
  tells("mesh2d:2x2/dead:0-1/dead:0-2", "node 0 is cut off");
  tells("mesh2d:8x1/dead:0-1", "node 0 is cut off");
  tells("mesh2d:8x1/dead:6-7", "node 7 is cut off");
  tells("ring:16/dead:0-1/dead:8-9", "nodes 1, 2, 3, 4, 5 and 3 more are cut off");
  tells("crossbar:4/dead:2-4", "node 2 is cut off");
  tells("torus2d:4x4/dead:0-1/dead:2-3", "its routing has no way from node 0 to node 1 and between 31 more pairs");
  tells("dragonfly:3x2x1/dead:6-7", "allowed are dead links of rings, meshes, tori and fat trees");
  tells("oneway-ring:4/dead:0-1", "allowed are dead links of rings");
  tells("xc:1x1x2/dead:8-9", "allowed are dead links of rings");
  tells("ring:40000/dead:0-1", "rings of at most 32768");
}

TEST_CASE("a_slow_link_takes_longer_for_bytes_both_ways") {
  Script script("mesh2d:2x2/slow:0-1x4");
  script.send(0, 0, 1, 50);
  script.send(0, 0, 1, 50);
  script.send(0, 1, 0, 50);
  const std::vector<Seen> seen = script.run();
  CHECK(seen[0].head == 100);
  CHECK(seen[0].tail == 300);
  CHECK(seen[1].head == 300);
  CHECK(seen[1].tail == 500);
  CHECK(seen[2].head == 100);
  CHECK(seen[2].tail == 300);
  CHECK(script.use(0, 1).busy == SimTime{400'000});
  Script further("mesh2d:2x2/slow:0-1x4");
  further.send(0, 0, 3, 50);
  const std::vector<Seen> there = further.run();
  CHECK(there[0].head == 200);
  CHECK(there[0].tail == 400);
  CHECK(further.use(1, 3).busy == SimTime{50'000});
}

TEST_CASE("slow_links_differ_from_those_of_their_class") {
  FabricParameters parameters({1'000'000, {100'000}});
  parameters.classes["y"] = {2'000'000, {300'000}, 0};
  Script script("mesh2d:2x2/slow:0-2x4/slow:0-1x2", parameters);
  script.send(0, 0, 1, 50);
  script.send(0, 0, 2, 50);
  const std::vector<Seen> seen = script.run();
  CHECK(seen[0].tail == 200);  // like a link of class y, except for the latency
  CHECK(seen[1].head == 300);
  CHECK(seen[1].tail == 400 + 300);  // 50 * 2 * 4
  CHECK(script.use(1, 3).busy == SimTime{});
}

TEST_CASE("links_of_too_many_costs_are_refused") {
  std::string text = "ring:64";
  for (int i = 0; i < 32; ++i)
    text += "/slow:" + std::to_string(i) + "-" + std::to_string(i + 1) + "x" + std::to_string(i + 2);
  CHECK_THROWS_WITH_AS(Script script(text), doctest::Contains("links of more than 32 different costs"), UsageError);
}

TEST_CASE("packets_go_round_a_dead_link_of_a_mesh") {
  const auto sent = [](std::uint32_t from, std::uint32_t to, unsigned buffer) {
    Script script("mesh2d:2x2/dead:0-1", buffer);
    script.send(0, from, to, 50);
    CHECK(script.use(0, 1).to == 0);  // no such link
    return script.run()[0];
  };
  for (const unsigned buffer : {0U, 1U}) {
    CHECK(sent(0, 1, buffer) == Seen{300, 350, 1, -1});
    CHECK(sent(1, 0, buffer) == Seen{300, 350, 1, -1});
    CHECK(sent(0, 3, buffer) == Seen{200, 250, 1, -1});
    CHECK(sent(3, 0, buffer) == Seen{200, 250, 0, -1});
  }
  CHECK(Topology::parse("mesh2d:2x2/dead:0-1").mean_hops() == 1.25);
}

TEST_CASE("packets_go_the_other_way_round_a_ring_with_a_dead_link") {
  Script script("ring:8/dead:0-1");
  script.send(0, 0, 1, 50);
  script.send(10'000, 7, 2, 50);
  const std::vector<Seen> seen = script.run();
  CHECK(seen[0].head == 700);
  CHECK(seen[0].tail == 750);
  CHECK(seen[1].head == 10'500);
  CHECK(script.use(0, 7).packets == 1);
  CHECK(script.use(7, 6).packets == 2);
}

// The times of one rank on a node that takes 2.5 times as long, and of one on a usual node.
struct Paces {
  std::int64_t slow;
  std::int64_t usual;
  bool operator==(const Paces&) const = default;
};

template <class Body>
Paces times_of(const Body& body) {
  Paces lazy{};
  for (const bool strict : {false, true}) {
    EngineOptions options = testing::options_for(2, 2, strict);
    options.slowness = {Slowness{2500}, Slowness{}};
    Engine engine(options);
    Paces times{};
    for (std::uint32_t rank = 0; rank < 2; ++rank) {
      engine.take_interrupts(Rank{rank});
      engine.start(Rank{rank}, [&, rank] {
        ModelHost host = engine.host(Rank{rank});
        body(host);
        (rank == 0 ? times.slow : times.usual) = host.now().ps;
      });
    }
    engine.run();
    if (!strict) lazy = times;
    CHECK(times == lazy);
  }
  return lazy;
}

TEST_CASE("software_of_a_slow_node_takes_longer") {
  using conduit::PrivatePrice;
  using conduit::SharedPrice;
  CHECK(times_of([](ModelHost& host) { host.charge(PrivatePrice::call); }) == Paces{2'500, 1'000});
  CHECK(times_of([](ModelHost& host) {
          const std::uint64_t from = 42;
          std::uint64_t to = 0;
          host.copy(&to, &from, sizeof to);
        }) == Paces{10'010, 4'004});
  CHECK(times_of([](ModelHost& host) { host.spend({100'000}); }) == Paces{250'000, 100'000});
  CHECK(times_of([](ModelHost& host) { host.charge_shared(SharedPrice::nic_post); }) == Paces{500'000, 200'000});
  CHECK(times_of([](ModelHost& host) { host.pass({100'000}); }) == Paces{100'000, 100'000});
  CHECK(times_of([](ModelHost& host) { host.idle({90'000}); }) == Paces{100'000, 90'000});
  CHECK(times_of([](ModelHost& host) {
          host.price_polls({4'000});
          host.idle({90'000});
        }) == Paces{105'000, 98'000});
  CHECK(times_of([](ModelHost& host) {
          host.price_misses({6'000});
          host.idle({90'000});
        }) == Paces{90'000, 90'000});
  CHECK(times_of([](ModelHost& host) {
          (void)host.work(host.paced({100'000}), false);
          host.engine().interrupt(host.rank(), {30'000}, nullptr);
        }) == Paces{250'000 + 75'000, 130'000});
}

TEST_CASE("the_pace_of_some_nodes_alone_is_refused") {
  EngineOptions options = testing::options_for(2, 2);
  options.slowness = {Slowness{2500}};
  CHECK_THROWS_WITH_AS(Engine engine(options), "sim: the pace of 1 of 2 nodes", UsageError);
}

}  // namespace
}  // namespace gasmeter::sim::faults_test
