// Random operations between computing ranks. Every byte is at its place, and the times do not depend on threads.
#include <doctest/doctest.h>

#include <cstdint>
#include <random>
#include <vector>

#include "networks/portals/world.hpp"
#include "support/effort.hpp"
#include "support/pattern.hpp"

namespace gasmeter::networks::portals::portals_traffic_test {
namespace {

using namespace testing;
using gasmeter::testing::has_pattern;
using gasmeter::testing::rounds;
using gasmeter::testing::write_pattern;

struct Observed {
  std::vector<std::int64_t> clocks;
  std::uint64_t interrupts = 0;
  std::uint64_t steps = 0;
  std::uint64_t waited = 0;
  std::uint64_t drops = 0;
  bool operator==(const Observed&) const = default;
};

constexpr unsigned kRanks = 6;
constexpr Bytes kRoom = 6000;  // for the bytes of one operation
constexpr unsigned kOperations = 12;

// For each peer, a rank has four places: for the peer's puts, for its gets, and for this rank's own puts and gets.
constexpr Bytes place_of(unsigned peer, unsigned which) {
  return (Bytes{peer} * 4 + which) * kRoom;
}

std::uint64_t seed_of(std::uint64_t seed, unsigned from, unsigned to, unsigned number) {
  return ((seed * 64 + from) * 64 + to) * 64 + number;
}

// Each rank puts to and gets from peers, one operation after the other, and computes in between. All entries before the
// one that matches cost steps.
Observed random_traffic(const Shape& shape, const PortalsParameters& parameters, std::uint64_t seed) {
  World world(shape, parameters, place_of(kRanks, 0));
  Observed result;
  result.clocks.resize(kRanks);
  for (unsigned rank = 0; rank < kRanks; ++rank) {
    Portals& portals = world.portals(rank);
    for (std::uint64_t peer = 0; peer < kRanks; ++peer) {
      portals.md_attach(portals.me_attach(kPortal, {.match = peer, .source = Rank{static_cast<std::uint32_t>(peer)}}),
                        {.start = world.at(rank, place_of(static_cast<unsigned>(peer), 0)),
                         .length = 2 * kRoom,
                         .put = true,
                         .get = true,
                         .remote_offset = true});
      write_pattern(world.at(rank, place_of(static_cast<unsigned>(peer), 1)), kRoom, seed + 100 * rank + peer);
    }
  }
  for (unsigned rank = 0; rank < kRanks; ++rank) {
    world.engine.start(Rank{rank}, [&, rank] {
      std::mt19937_64 random(seed * 100 + rank);
      Portals& portals = world.portals(rank);
      sim::ModelHost host = world.host(rank);
      const EqHandle events = portals.eq_alloc(16);
      const MdHandle local_md = portals.md_bind(
          {.start = world.at(rank), .length = world.memory[rank].size(), .no_start_events = true, .events = events});
      for (unsigned i = 0; i < kOperations; ++i) {
        const auto peer = static_cast<unsigned>(random() % kRanks);
        const Bytes bytes = random() % 3 == 0 ? random() % 20 : random() % kRoom;
        const Target target = {.rank = Rank{peer}, .portal = kPortal, .match_bits = rank};
        if (random() % 2 == 0) {
          write_pattern(world.at(rank, place_of(peer, 2)), bytes, seed_of(seed, rank, peer, i));
          portals.put(local_md, place_of(peer, 2), bytes, Ack::wanted, target);
          while (wait_for_event(portals, host, events).type != EventType::ack) {
          }
          CHECK(has_pattern(world.at(peer, place_of(rank, 0)), bytes, seed_of(seed, rank, peer, i)));
        } else {
          Target from = target;
          from.offset = kRoom;
          portals.get(local_md, place_of(peer, 3), bytes, from);
          while (wait_for_event(portals, host, events).type != EventType::reply_end) {
          }
          CHECK(has_pattern(world.at(rank, place_of(peer, 3)), bytes, seed + 100 * peer + rank));
        }
        // No entry takes it, and no rank hears of it.
        if (random() % 4 == 0)
          portals.put(local_md, 0, bytes, Ack::wanted, {.rank = Rank{peer}, .portal = kPortal + 1});
        if (random() % 2 == 0) {
          while (host.work({static_cast<std::int64_t>(random() % 5'000'000)}, false).ps != 0) {
          }
        }
      }
      host.synchronise();
      result.clocks[rank] = host.now().ps;
    });
  }
  world.engine.run();
  for (unsigned rank = 0; rank < kRanks; ++rank) {
    const NiCounters& counters = world.portals(rank).counters();
    result.interrupts += counters.interrupts;
    result.steps += counters.steps;
    result.waited += counters.waited;
    result.drops += counters.drops;
  }
  return result;
}

TEST_CASE("portals_random_traffic_is_right_and_the_same_lazily_strictly_and_on_threads") {
  const Shape spread{.ranks = kRanks, .topology = "torus2d:3x2"};
  const Shape shared{.ranks = kRanks, .topology = "torus2d:3x2", .node_of = {0, 0, 1, 1, 4, 4}};
  for (const Shape& shape : {spread, shared}) {
    for (const PortalsParameters& parameters :
         {PortalsParameters{}, PortalsParameters{.dma_slots = 1}, PortalsParameters{.other_core = true},
          PortalsParameters{.mode = Mode::accelerated}}) {
      for (std::uint64_t seed = 1; seed <= rounds(4); ++seed) {
        CAPTURE(seed);
        const Observed lazy = random_traffic(shape, parameters, seed);
        CHECK(lazy.drops > 0);
        CHECK(lazy.steps > kRanks * kOperations);
        CHECK((lazy.interrupts == 0) == (parameters.mode == Mode::accelerated));
        CHECK((lazy.waited > 0) == (parameters.dma_slots == 1));
        Shape strict = shape;
        strict.strict = true;
        Shape threads = shape;
        threads.threads = 2;
        CHECK(lazy == random_traffic(strict, parameters, seed));
        CHECK(lazy == random_traffic(threads, parameters, seed));
      }
    }
  }
}

}  // namespace
}  // namespace gasmeter::networks::portals::portals_traffic_test
