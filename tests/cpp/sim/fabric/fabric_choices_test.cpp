// Unordered packets look at the outputs of their first router, and take no detour where nothing waits.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "nowhere.hpp"
#include "random_traffic.hpp"
#include "script.hpp"
#include "support/effort.hpp"

namespace gasmeter::sim::fabric_choices_test {
namespace {

using gasmeter::testing::rounds;
using testing::RandomTraffic;
using testing::Script;
using testing::Seen;
using testing::TrafficOptions;

constexpr SimTime kLink{100'000};
constexpr std::uint16_t kBytes = 50;
constexpr SimTime kWire{50'000};

// Return the expected use of a router's links by packets that came to it in this order.
std::map<std::uint32_t, std::uint64_t> expected_use(
    const Topology& topology, std::uint32_t router,
    const std::vector<std::pair<std::int64_t, std::uint32_t>>& packets) {
  std::map<std::uint32_t, std::uint64_t> use;
  std::map<std::uint32_t, std::int64_t> free;
  for (std::uint64_t number = 0; number < packets.size(); ++number) {
    const auto [now, to] = packets[number];
    const CrayXc::Choices choices = topology.chooser()->choices(router, to, number);
    std::uint32_t port = UINT32_MAX;
    std::int64_t least = INT64_MAX;
    for (std::size_t i = 0; i < choices.count; ++i) {
      Route route = choices.ways[i];
      std::uint32_t links = 0;
      std::uint32_t first = 0;
      for (std::uint32_t at = router; at != to; ++links) {
        const Hop hop = topology.next(at, to, route);
        if (links == 0) first = hop.port;
        at = topology.neighbour(at, hop.port)->vertex;
      }
      const std::int64_t cost = std::max<std::int64_t>(free[first] - now, 0) * links;
      if (cost < least) {
        least = cost;
        port = first;
      }
    }
    ++use[port];
    free[port] = std::max(free[port], now) + kWire.ps;
  }
  return use;
}

TEST_CASE("a_packet_takes_the_way_that_costs_least_at_its_first_router") {
  for (const char* name : {"xc:1x1x3", "xc:1x3x2", "xc:4x2x2"}) {
    CAPTURE(name);
    const Topology topology = Topology::parse(name);
    const std::uint32_t router = topology.terminals();
    Script script(name);
    std::vector<std::pair<std::int64_t, std::uint32_t>> packets;
    // All four nodes of the router send at once, as fast as their links allow, with some pauses.
    for (std::uint32_t i = 0; i < 200; ++i) {
      const std::int64_t at = i * 50 + i / 20 * 700;
      for (std::uint32_t node = 0; node < 4; ++node) {
        const std::uint32_t to = topology.terminals() - 1 - (i / 7 + node) % (topology.terminals() - 4);
        script.send(at, node, to, kBytes, false, kUnordered);
        packets.emplace_back(at * 1'000 + kLink.ps, to);
      }
    }
    const std::vector<Seen> seen = script.run();
    CHECK(std::none_of(seen.begin(), seen.end(), [](const Seen& each) { return each.head == -1; }));
    const auto expected = expected_use(topology, router, packets);
    std::uint32_t links = 0;
    for (const LinkUse& link : script.fabric().use()) {
      if (link.vertex != router || link.port < 4) continue;
      const auto choice = expected.find(link.port);
      CHECK(link.packets == (choice == expected.end() ? 0 : choice->second));
      links += link.packets != 0 ? 1U : 0U;
    }
    CHECK(links > 1);
  }
}

// Send from 0 to 4, 50 bytes, 100 ns a link: up, over the backplane, down. The link that is busy until 150 costs 50 *
// 2, the detour by the third router nothing: it comes one link later, but does not wait.
TEST_CASE("the_first_goes_straight_and_one_that_would_wait_makes_a_detour") {
  const Topology topology = Topology::parse("xc:1x1x3");
  const auto has_detour = [&](std::uint64_t number) { return topology.chooser()->choices(12, 5, number).count == 3; };
  Script script("xc:1x1x3");
  std::uint32_t others = 0;  // packets that came to the router before, one by one, when nothing waited
  while (!has_detour(others + 1)) ++others;
  for (std::uint32_t i = 0; i < others; ++i) script.send(1000 * i, 0, 4, kBytes, false, kUnordered);
  const std::int64_t begin = 1000 * others;
  script.send(begin, 0, 4, kBytes, false, kUnordered);
  script.send(begin, 1, 5, kBytes, false, kUnordered);
  script.send(begin, 2, 6, kBytes);
  const std::vector<Seen> seen = script.run();
  for (std::uint32_t i = 0; i < others; ++i) CHECK(seen[i].head == 1000 * i + 300);
  CHECK(seen[others].head == begin + 300);
  CHECK(seen[others + 1].head == begin + 400);
  CHECK(seen[others + 2].head == begin + 350);  // in order behind the first
  CHECK(script.use(12, 14).packets == 1);
  CHECK(script.use(14, 13).packets == 1);
}

TEST_CASE("nobody_makes_a_detour_where_nothing_waits") {
  const Topology topology = Topology::parse("xc:4x2x2");
  Script script("xc:4x2x2");
  std::vector<std::uint32_t> most;
  for (std::uint32_t i = 0; i < 120; ++i) {
    const std::uint32_t from = i * 7 % topology.terminals();
    const std::uint32_t to = (from + 1 + i * 5 % (topology.terminals() - 1)) % topology.terminals();
    script.send(800 * i, from, to, kBytes, false, kUnordered);
    // The longest way: up, two links in each group, one between them, down.
    most.push_back(from / 16 == to / 16 ? 4 : 7);
  }
  const std::vector<Seen> seen = script.run();
  for (std::uint32_t i = 0; i < seen.size(); ++i) {
    CHECK(seen[i].head != -1);
    CHECK(seen[i].head <= 800 * i + 100 * most[i]);
  }
  std::uint64_t optical = 0;
  std::uint64_t expected = 0;
  for (const LinkUse& link : script.fabric().use()) {
    if (topology.port_class(link.vertex, link.port) == 3) optical += link.packets;
  }
  for (const std::uint32_t links : most) expected += links == 7 ? 1 : 0;
  CHECK(optical == expected);
}

TEST_CASE("random_unordered_packets_arrive_once_and_obey_every_buffer") {
  for (const char* topology : {"xc:1x2x3", "xc:4x2x2", "xc:14x1x2"}) {
    CAPTURE(topology);
    std::uint64_t out_of_order = 0;
    for (const unsigned buffer : {1U, 2U, 8U, 0U}) {
      CAPTURE(buffer);
      TrafficOptions options;
      options.topology = topology;
      options.buffer = buffer;
      options.messages = std::max<std::uint64_t>(30, rounds(60));
      options.seed = buffer;
      options.unordered = true;
      options.traced = true;
      options.outstanding = 64;
      RandomTraffic traffic(options);
      (void)traffic.run();
      CHECK(traffic.sum(&RandomTraffic::lost) == 0);
      CHECK(traffic.sum(&RandomTraffic::astray) == 0);
      out_of_order += traffic.sum(&RandomTraffic::out_of_order);
      traffic.trace().check();
    }
    CHECK(out_of_order != 0);
  }
}

TEST_CASE("packets_of_one_flow_stay_in_order_where_others_pass") {
  TrafficOptions options;
  options.topology = "xc:3x2x2";
  options.buffer = 4;
  options.messages = std::max<std::uint64_t>(100, rounds(300));
  options.outstanding = 64;
  options.flows = 3;
  RandomTraffic traffic(options);
  (void)traffic.run();
  CHECK(traffic.sum(&RandomTraffic::lost) == 0);
  CHECK(traffic.sum(&RandomTraffic::astray) == 0);
  CHECK(traffic.sum(&RandomTraffic::out_of_flow) == 0);
  CHECK(traffic.sum(&RandomTraffic::out_of_order) != 0);
}

TEST_CASE("nobody_knows_the_way_of_an_unordered_packet") {
  for (const char* name : {"xc:1x1x3", "torus2d:4x4"}) {
    CAPTURE(name);
    const Topology topology = Topology::parse(name);
    testing::Nowhere sink;
    Engine engine(testing::options_for(topology.terminals(), topology.vertices()));
    const Fabric fabric(engine, topology, LinkParameters{1'000, {1'000}}, sink);
    std::vector<std::uint32_t> links;
    CHECK(fabric.add_way(0, 5, links));
    CHECK(links.size() == topology.hops(0, 5));
    CHECK(fabric.add_way(0, 5, links, kUnordered) == (topology.chooser() == nullptr));
  }
}

}  // namespace
}  // namespace gasmeter::sim::fabric_choices_test
