// Throughput of a fabric, compared with the bounds of its links and with routers that are stepped tick by tick.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "gasmeter/sim/engine/model_host.hpp"
#include "gasmeter/sim/fabric/fabric.hpp"
#include "gasmeter/sim/fabric/packet_pool.hpp"
#include "reference_router.hpp"
#include "sim/engine/prices.hpp"
#include "sim/topology/walk.hpp"
#include "support/effort.hpp"

namespace gasmeter::sim::fabric_throughput_test {
namespace {

using gasmeter::testing::rounds;
using testing::Chosen;
using testing::LinkTicks;
using testing::ReferenceRouters;
using testing::RouterOptions;

constexpr SimTime kTick{1'000};
constexpr std::uint16_t kBytes = 64;

// Destinations of each terminal's packets, the same for every object with these arguments.
class Destinations {
 public:
  enum class Pattern : bool { uniform, shift };

  // Uniform: all others equally often, in random order. Shift: the terminal `distance` further.
  Destinations(std::uint32_t terminals, Pattern pattern, std::uint32_t distance = 0)
      : pattern_(pattern), distance_(distance), decks_(terminals) {
    for (std::uint32_t terminal = 0; terminal < terminals; ++terminal) decks_[terminal].random.seed(terminal + 1);
  }
  std::uint32_t next(std::uint32_t terminal) {
    const auto terminals = static_cast<std::uint32_t>(decks_.size());
    if (pattern_ == Pattern::shift) return (terminal + distance_) % terminals;
    Deck& deck = decks_[terminal];
    if (deck.cards.empty()) {
      for (std::uint32_t to = 0; to < terminals; ++to)
        if (to != terminal) deck.cards.push_back(to);
      std::shuffle(deck.cards.begin(), deck.cards.end(), deck.random);
    }
    const std::uint32_t to = deck.cards.back();
    deck.cards.pop_back();
    return to;
  }

 private:
  struct Deck {
    std::mt19937_64 random;
    std::vector<std::uint32_t> cards;
  };
  Pattern pattern_;
  std::uint32_t distance_;
  std::vector<Deck> decks_;
};

class Saturated;

struct Carried : Packet {
  Saturated* owner = nullptr;
};

// The fabric under the traffic of ReferenceRouters.
class Saturated : public FabricSink {
 public:
  Saturated(const Topology& topology, const RouterOptions& options, Destinations destinations, std::uint32_t flow = 0)
      : options_(options),
        flow_(flow),
        engine_(testing::options_for(topology.terminals(), topology.vertices())),
        pool_(1),
        fabric_(engine_, topology, parameters(options), *this),
        destinations_(std::move(destinations)) {
    REQUIRE(fabric_.on_wire(kBytes) == kTick * options.wire);
    for (std::uint32_t terminal = 0; terminal < engine_.ranks(); ++terminal) {
      engine_.start(Rank{terminal}, [this, terminal] {
        ModelHost host = engine_.host(Rank{terminal});
        for (unsigned n = 0; n < options_.window; ++n) send(*pool_.take(0), terminal, host.now());
        while (true) {
          while (host.now() < until_) host.idle(until_);
          engine_.park(Rank{terminal});
        }
      });
    }
  }

  // Return how many packets' last bytes have arrived by then.
  std::uint64_t run_until(std::int64_t tick) {
    until_ = kTick * tick;
    engine_.run();
    return static_cast<std::uint64_t>(
        std::count_if(tails_.begin(), tails_.end(), [this](SimTime tail) { return tail < until_; }));
  }
  [[nodiscard]] Fabric& fabric() { return fabric_; }

 private:
  static LinkParameters link(const LinkTicks& ticks) {
    return {kTick.ps * ticks.wire * 1000 / kBytes, kTick * ticks.latency, ticks.buffer};
  }
  static FabricParameters parameters(const RouterOptions& options) {
    FabricParameters parameters(link(options));
    for (const auto& [name, ticks] : options.classes) parameters.classes[name] = link(ticks);
    parameters.echo = static_cast<std::uint16_t>(kBytes / options.echo);
    parameters.turn = kTick * options.turn;
    return parameters;
  }
  void send(Carried& packet, std::uint32_t terminal, SimTime now) {
    packet.owner = this;
    packet.from = terminal;
    packet.to = destinations_.next(terminal);
    packet.bytes = kBytes;
    packet.watched = 0;
    fabric_.inject(packet, now, flow_);
  }
  SimTime arrived(Packet& packet, SimTime) override {
    const SimTime tail = packet.tail;
    tails_.push_back(tail);
    packet.becomes(&Saturated::on_acknowledged);
    engine_.post(NodeId{packet.to}, NodeId{packet.from}, tail + fabric_.links().latency, packet);
    return tail;
  }
  void departed(Packet&, SimTime) override {}
  static void on_acknowledged(Action& action, SimTime now) {
    auto& packet = static_cast<Carried&>(action);
    packet.owner->send(packet, packet.from, now);
  }

  RouterOptions options_;
  std::uint32_t flow_;
  Engine engine_;
  PacketPool<Carried> pool_;
  Fabric fabric_;
  Destinations destinations_;
  std::vector<SimTime> tails_;
  SimTime until_;
};

// Return the packets delivered per terminal in one packet's time on a wire, between two instants (ticks).
template <class Routers>
double throughput(Routers& routers, const Topology& topology, const RouterOptions& options, std::int64_t from,
                  std::int64_t to) {
  const std::uint64_t before = routers.run_until(from);
  const std::uint64_t packets = routers.run_until(to) - before;
  return static_cast<double>(packets) * options.wire / static_cast<double>(to - from) / topology.terminals();
}

// Return the rate that the busiest link allows, in the same unit, if each terminal sends to all others alike.
double bound_of_links(const Topology& topology) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> ways;  // by link
  testing::for_each_pair(topology, [&](std::uint32_t from, std::uint32_t to) {
    for (const auto& [vertex, hop] : testing::walk(topology, from, to)) ++ways[{vertex, hop.port}];
  });
  std::uint32_t most = 0;
  for (const auto& [link, count] : ways) most = std::max(most, count);
  // A terminal's packet takes each of its ways with probability 1 / (terminals - 1).
  return static_cast<double>(topology.terminals() - 1) / most;
}

// Half of the terminals send terminals / 2 of terminals - 1 packets over the cut.
double bound_of_bisection(const Topology& topology) {
  const double half = topology.terminals() / 2.0;
  return static_cast<double>(topology.bisection_links()) * (topology.terminals() - 1) / (half * half);
}

// Instants in ticks: kWarm is long after the start; the end lets every deck be dealt some times.
constexpr std::int64_t kWarm = 8'000;
std::int64_t end_of(std::uint64_t full) {
  return kWarm + static_cast<std::int64_t>(std::max<std::uint64_t>(6'000, rounds(full)));
}

TEST_CASE("bounds_of_uniform_traffic_are_those_of_the_papers") {
  // Rings of n = 4k carry n / 8 packets a link and time. Lines of even n have n^2 / 4 ways over the middle link.
  CHECK(bound_of_links(Topology::parse("ring:8")) == doctest::Approx(7.0 / 8));
  CHECK(bound_of_links(Topology::parse("mesh2d:4x1")) == doctest::Approx(3.0 / 4));
  CHECK(bound_of_links(Topology::parse("crossbar:8")) == doctest::Approx(1));
  for (const char* name : {"ring:8", "torus2d:4x4", "torus2d:8x8", "mesh2d:8x8", "torus3d:4x4x4", "mesh3d:4x4x4"}) {
    CAPTURE(name);
    const Topology topology = Topology::parse(name);
    CHECK(bound_of_links(topology) == doctest::Approx(bound_of_bisection(topology)));
  }
  // Ties of a ring of 4k + 2 load every second link more: 10 ways instead of 9.
  CHECK(bound_of_links(Topology::parse("ring:6")) == doctest::Approx(1));
  CHECK(bound_of_bisection(Topology::parse("ring:6")) == doctest::Approx(10.0 / 9));
}

TEST_CASE("uniform_traffic_without_limits_fills_the_busiest_links") {
  for (const char* name : {"torus2d:8x8", "mesh2d:8x8", "torus3d:4x4x4", "mesh3d:4x4x4", "ring:6", "torus2d:6x6",
                           "fat-tree:4x2", "crossbar:8", "dragonfly:9x4x2", "xc:3x2x2"}) {
    CAPTURE(name);
    const Topology topology = Topology::parse(name);
    RouterOptions options;
    options.latency = 13;
    options.window = 64;
    Saturated fabric(topology, options, Destinations(topology.terminals(), Destinations::Pattern::uniform));
    const double packets = throughput(fabric, topology, options, kWarm, end_of(20'000));
    const double bound = bound_of_links(topology);
    CHECK(bound <= bound_of_bisection(topology) * 1.0001);
    // A finite time may see a few more packets with short ways than their share; a shorter time sees more of them.
    CHECK(packets / bound < (rounds(100) == 100 ? 1.01 : 1.03));
    CHECK(packets / bound > 0.95);
  }
}

TEST_CASE("finite_buffers_never_carry_more") {
  for (const char* name : {"torus2d:8x8", "mesh2d:8x8"}) {
    CAPTURE(name);
    const Topology topology = Topology::parse(name);
    double before = 0;
    for (const unsigned buffer : {1U, 2U, 4U, 8U, 32U}) {
      CAPTURE(buffer);
      RouterOptions options;
      options.latency = 13;
      options.window = 16;
      options.buffer = buffer;
      Saturated fabric(topology, options, Destinations(topology.terminals(), Destinations::Pattern::uniform));
      const double share = throughput(fabric, topology, options, kWarm, end_of(8'000)) / bound_of_links(topology);
      CHECK(share < 1.01);
      CHECK(share > before * 0.99);
      before = share;
    }
  }
}

// Compare with the reference routers. They differ at equal instants (latency and wire share few factors, so that these
// are rare), and a finite time sees a few packets more or fewer. A pattern that repeats the order at such instants
// differs again and again.
void compare_with_reference(const char* name, const RouterOptions& links = {}) {
  const Topology topology = Topology::parse(name);
  for (const auto pattern : {Destinations::Pattern::uniform, Destinations::Pattern::shift}) {
    for (const unsigned window : {8U, 32U}) {
      if (window != 8 && rounds(100) < 100) continue;
      for (const unsigned buffer : {2U, 4U, 8U, 32U}) {
        CAPTURE(name);
        CAPTURE(window);
        CAPTURE(buffer);
        CAPTURE((pattern == Destinations::Pattern::shift));
        RouterOptions options = links;
        options.latency = 13;
        options.window = window;
        options.buffer = buffer;
        for (auto& [link_class, ticks] : options.classes) ticks.buffer *= buffer;
        const Destinations destinations(topology.terminals(), pattern, 3);
        const std::int64_t end = end_of(14'000);
        Saturated fabric(topology, options, destinations);
        Destinations same = destinations;
        ReferenceRouters reference(topology, options, [&](std::uint32_t terminal) { return same.next(terminal); });
        const double expected = throughput(reference, topology, options, kWarm, end);
        CHECK(expected > 0);
        const bool repeats = pattern == Destinations::Pattern::shift && topology.one_way();
        const double most = repeats ? 0.07 : rounds(100) < 100 ? 0.04 : 0.025;
        CHECK(throughput(fabric, topology, options, kWarm, end) == doctest::Approx(expected).epsilon(most).scale(0));
      }
    }
  }
}

TEST_CASE("a_ring_carries_what_stepped_routers_carry") {
  compare_with_reference("ring:8");
}

TEST_CASE("a_torus_carries_what_stepped_routers_carry") {
  compare_with_reference("torus2d:4x4");
}

TEST_CASE("a_mesh_carries_what_stepped_routers_carry") {
  compare_with_reference("mesh2d:4x4");
}

TEST_CASE("links_that_differ_carry_what_stepped_routers_carry") {
  RouterOptions options;
  options.classes["y"] = {25, 31, 2};
  compare_with_reference("torus2d:4x4", options);
  options.classes = {{"local", {5, 17, 1}}, {"global", {35, 57, 3}}};
  compare_with_reference("dragonfly:5x2x2", options);
  options.classes = {{"backplane", {5, 17, 1}}, {"copper", {15, 19, 1}}, {"optical", {35, 57, 3}}};
  compare_with_reference("xc:3x2x2", options);
  options.classes = {{"terminal", {20, 29, 1}}};
  compare_with_reference("fat-tree:3x2", options);
}

TEST_CASE("choosing_when_the_link_is_free_carries_as_much") {
  RouterOptions options;
  options.chosen = Chosen::with_link;
  compare_with_reference("torus2d:4x4", options);
}

TEST_CASE("one_way_rings_carry_what_stepped_routers_carry") {
  RouterOptions options;
  options.wire = 16;
  options.turn = 7;
  compare_with_reference("oneway-ring:8", options);
  compare_with_reference("oneway-torus2d:4x4", options);
  options.classes["z"] = {24, 19, 1};
  compare_with_reference("oneway-torus3d:2x3x3", options);
}

TEST_CASE("echoes_take_their_share_of_one_way_rings") {
  for (const char* name : {"oneway-ring:8", "oneway-torus2d:4x4"}) {
    CAPTURE(name);
    const Topology topology = Topology::parse(name);
    RouterOptions options;
    options.wire = 16;
    options.latency = 13;
    options.window = 64;
    Saturated fabric(topology, options, Destinations(topology.terminals(), Destinations::Pattern::uniform));
    const double packets = throughput(fabric, topology, options, kWarm, end_of(20'000));
    // In a ring of n, from a node to each of its n - 1 others, a packet takes n / 2 links on average and its echo the
    // other n / 2 with an eighth of the bytes. With as many nodes as links, each packet takes n / 2 times 9 / 8 of a
    // link.
    const double extent = topology.extents()[0];
    const double in_a_ring = (topology.terminals() - topology.terminals() / extent) / (topology.terminals() - 1);
    const double bound = 1 / (extent / 2 * 9 / 8 * in_a_ring);
    CHECK(packets / bound < (rounds(100) == 100 ? 1.01 : 1.03));
    CHECK(packets / bound > 0.95);
  }
}

// In each group 16 nodes send to the next group, to which five of the group's forty links lead.
TEST_CASE("unordered_packets_make_detours_where_links_are_busy") {
  const Topology topology = Topology::parse("xc:9x2x2");
  RouterOptions options;
  options.latency = 13;
  options.window = 16;
  options.buffer = 8;
  const auto carried = [&](const Destinations& destinations, std::uint32_t flow) {
    Saturated fabric(topology, options, destinations, flow);
    return throughput(fabric, topology, options, kWarm, end_of(8'000));
  };
  const Destinations next_group(topology.terminals(), Destinations::Pattern::shift, 16);
  CHECK(carried(next_group, 0) < 1.01 * 5 / 16);
  CHECK(carried(next_group, kUnordered) > 1.5 * 5 / 16);
  const Destinations all(topology.terminals(), Destinations::Pattern::uniform);
  CHECK(carried(all, kUnordered) > 0.95 * carried(all, 0));
}

}  // namespace
}  // namespace gasmeter::sim::fabric_throughput_test
