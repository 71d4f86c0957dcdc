// A train's packets come when they would come one by one. Golden times: tests/golden/fabric.md.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "gasmeter/base/error.hpp"
#include "nowhere.hpp"
#include "support/effort.hpp"
#include "train_traffic.hpp"

namespace gasmeter::sim {
namespace {

using gasmeter::testing::rounds;
using testing::Arrival;
using testing::Message;
using testing::TrainOptions;
using testing::TrainOutcome;
using testing::TrainTraffic;

const bool kFew = !gasmeter::testing::kSanitizer.empty();  // runs of each kind: sanitizers are slow
constexpr std::int64_t kNs = 1'000;

// 1 ns a byte, 100 ns a link.
TrainOptions options(const std::string& topology, unsigned buffer, bool trains) {
  return {topology, {1'000'000, {100 * kNs}, buffer, trains}, 1, false};
}

// Runs the same packet by packet; says how many events less the trains were.
std::uint64_t compare(TrainOptions options, const std::vector<Message>& messages) {
  CAPTURE(options.topology);
  CAPTURE(options.links.buffer);
  options.links.trains = false;
  TrainTraffic packets(options, messages);
  const TrainOutcome expected = packets.run();
  options.links.trains = true;
  TrainTraffic trains(options, messages);
  const TrainOutcome seen = trains.run();
  REQUIRE(packets.wrong() == 0);
  CHECK(trains.wrong() == 0);
  CHECK((seen.arrivals == expected.arrivals));
  CHECK((seen.departed == expected.departed));
  CHECK((seen.links == expected.links));
  return expected.events - std::min(expected.events, seen.events);
}

TEST_CASE("a_train_is_serialised_once_on_its_way") {
  for (const bool trains : {false, true}) {
    for (const unsigned buffer : {0U, 1000U}) {
      for (std::uint32_t hops = 1; hops <= 4; ++hops) {
        CAPTURE(trains);
        CAPTURE(buffer);
        CAPTURE(hops);
        TrainTraffic traffic(options("mesh2d:5x1", buffer, trains), {{10 * kNs, 0, hops, 4, 50, 20}});
        const TrainOutcome seen = traffic.run();
        const std::int64_t first = 10 * kNs + hops * 100 * kNs;
        REQUIRE(seen.arrivals[hops].size() == 4);
        for (std::uint32_t packet = 0; packet < 4; ++packet) {
          const Arrival& arrival = seen.arrivals[hops][packet];
          CHECK(arrival.number == packet);
          CHECK(arrival.head == first + packet * 50 * kNs);
          CHECK(arrival.tail == arrival.head + (packet == 3 ? 20 : 50) * kNs);
        }
        CHECK(seen.departed[0] == (10 + 150 + 20) * kNs);
      }
    }
  }
}

TEST_CASE("a_train_that_nobody_meets_is_one_event_a_hop") {
  for (const unsigned buffer : {0U, 2000U}) {
    CAPTURE(buffer);
    const std::vector<Message> messages{{0, 0, 6, 1000, 50, 50}};
    const std::uint64_t packets = TrainTraffic(options("mesh2d:7x1", buffer, false), messages).run().events;
    const std::uint64_t trains = TrainTraffic(options("mesh2d:7x1", buffer, true), messages).run().events;
    CHECK(packets >= 6000);
    CHECK(trains <= 1000 + 5 + 10);  // each arrival, hops before the last, the ranks' own
  }
}

TEST_CASE("trains_that_meet_come_as_their_packets_would") {
  std::mt19937_64 random(1);
  const auto below = [&random](std::uint64_t n) { return static_cast<std::uint32_t>(random() % n); };
  for (const unsigned buffer : {0U, 1U, 2U, 8U, 16U, 1000U}) {
    for (std::uint64_t round = 0; round < rounds(400); ++round) {
      // On a line all ways to its end meet.
      std::vector<Message> messages;
      for (const std::uint32_t from : {0U, 1U, below(4)}) {
        const auto bytes = static_cast<std::uint16_t>(20 + below(3) * 15);
        messages.push_back({below(400) * 10 * kNs, from, 5 - below(2), below(12), bytes,
                            static_cast<std::uint16_t>(1 + below(bytes)), below(2) == 0, below(2) * below(100) * kNs,
                            below(2) * 30 * kNs});
      }
      CAPTURE(round);
      (void)compare(options("mesh2d:6x1", buffer, true), messages);
    }
  }
}

// Of each terminal some trains and single packets. Grids of time as coarse as the bytes bring many equal instants.
std::vector<Message> mixture(std::uint32_t terminals, std::uint32_t messages, std::int64_t grid, std::int64_t span,
                             std::uint32_t longest, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto below = [&random](std::uint64_t n) { return static_cast<std::uint32_t>(random() % n); };
  std::vector<Message> result;
  for (std::uint32_t i = 0; i < messages; ++i) {
    const auto bytes = static_cast<std::uint16_t>(20 + below(3) * 20);
    const std::uint32_t count = below(2) == 0 ? below(3) : below(longest + 1);
    result.push_back({below(static_cast<std::uint64_t>(span / grid)) * grid, below(terminals), below(terminals), count,
                      bytes, below(2) == 0 ? bytes : static_cast<std::uint16_t>(1 + below(bytes)), below(3) == 0,
                      below(3) == 0 ? below(12) * 10 * kNs : 0, below(4) == 0 ? 40 * kNs : 0});
  }
  std::stable_sort(result.begin(), result.end(), [](const Message& a, const Message& b) { return a.at < b.at; });
  return result;
}

TEST_CASE("random_traffic_of_trains_and_packets_is_that_of_packets") {
  for (const char* topology : {"ring:5", "mesh2d:3x4", "torus2d:4x4", "torus3d:3x3x3", "crossbar:9", "fat-tree:3x2",
                               "dragonfly:4x3x2", "xc:3x1x2", "ring:2", "torus3d:2x2x2"}) {
    CAPTURE(topology);
    const std::uint32_t terminals = Topology::parse(topology).terminals();
    for (const unsigned buffer : {0U, 1U, 2U, 3U, 8U, 16U, 1000U}) {
      for (std::uint64_t round = 0; round < rounds(20); ++round) {
        CAPTURE(round);
        const std::int64_t grid = round % 4 == 0 ? 20 * kNs : round % 4 == 1 ? 10 * kNs : round % 4 == 2 ? kNs : 1;
        const std::uint32_t messages = round % 2 == 0 ? 4 * terminals : terminals;
        const std::uint32_t longest = round % 3 == 0 ? 10 : round % 3 == 1 ? 40 : 100;
        (void)compare(options(topology, buffer, true),
                      mixture(terminals, messages, grid, messages * longest * 5 * kNs, longest, round));
      }
    }
  }
}

TEST_CASE("two_trains_meet_at_every_offset") {
  constexpr std::int64_t kStep = kFew ? 70 : 10;
  constexpr std::uint64_t kOffsets = 1 + 1400 / kStep;
  const auto save = [](unsigned buffer, std::uint32_t from, std::int64_t gap) {
    std::uint64_t saved = 0;
    for (std::int64_t at = -700; at <= 700; at += kStep) {
      CAPTURE(from);
      CAPTURE(gap);
      CAPTURE(at);
      const std::vector<Message> messages{{1000 * kNs, 0, 4, 9, 40, 40, false, gap * kNs},
                                          {(1000 + at) * kNs, from, 4, 6, 60, 30, false, gap * kNs}};
      saved += compare(options("mesh2d:5x1", buffer, true), messages);
    }
    return saved;
  };
  for (const std::int64_t gap : {0, 30, 50, 70}) {
    for (const std::uint32_t from : {1U, 2U, 3U}) {
      // Four hops of nine packets and some of six, each time: more is saved than cuts cost.
      for (const unsigned buffer : {0U, 8U, 1000U}) CHECK(save(buffer, from, gap) > kOffsets * 10);
      (void)save(2, from, gap);
    }
  }
}

// A ring's link has the packets that have passed the wrap link in another channel.
TEST_CASE("trains_of_two_channels_take_turns") {
  std::mt19937_64 random(2);
  const auto below = [&random](std::uint64_t n) { return static_cast<std::uint32_t>(random() % n); };
  for (std::uint64_t round = 0; round < rounds(600); ++round) {
    std::vector<Message> messages;
    for (const std::uint32_t from : {0U, 4U, 0U, 3U, 4U}) {
      const auto bytes = static_cast<std::uint16_t>(20 + below(3) * 20);
      messages.push_back({below(300) * 10 * kNs, from, 1 + below(from == 0 ? 2 : 1), below(40), bytes, bytes, false,
                          below(3) == 0 ? below(60) * kNs : 0, below(4) * 100 * kNs});
    }
    std::stable_sort(messages.begin(), messages.end(), [](const Message& a, const Message& b) { return a.at < b.at; });
    CAPTURE(round);
    (void)compare(options("ring:5", 1U << (round % 6), true), messages);
  }
}

TEST_CASE("a_train_that_closes_up_goes_on_in_two_pieces") {
  // Of nine packets 70 apart six wait for a long one: they close up to 40 apart.
  const std::vector<Message> messages{{1000 * kNs, 0, 4, 9, 40, 40, false, 70 * kNs}, {1090 * kNs, 1, 4, 0, 180}};
  CHECK(compare(options("mesh2d:5x1", 0, true), messages) > 0);
  const TrainOutcome seen = TrainTraffic(options("mesh2d:5x1", 0, true), messages).run();
  std::vector<std::int64_t> heads;
  for (const Arrival& each : seen.arrivals[4]) {
    if (each.message == 0) heads.push_back(each.head / kNs);
  }
  CHECK(heads == std::vector<std::int64_t>{1570, 1610, 1650, 1690, 1730, 1770, 1820, 1890, 1960});
}

TEST_CASE("trains_are_the_same_on_any_number_of_threads") {
  bool parallel = false;
  for (const char* topology : {"mesh2d:2x1", "torus2d:4x4", "torus3d:4x4x4"}) {
    for (const unsigned buffer : {0U, 2U, 8U, 1000U}) {
      if (kFew && buffer != 8) continue;
      CAPTURE(topology);
      CAPTURE(buffer);
      const std::uint32_t terminals = Topology::parse(topology).terminals();
      TrainOptions traffic = options(topology, buffer, true);
      traffic.links.latency = {2'100 * kNs};
      traffic.links.per_byte_fs = 50'000;
      const auto messages =
          mixture(terminals, static_cast<std::uint32_t>(std::max<std::uint64_t>(2'000, rounds(3'000))), 1,
                  600'000 * kNs, 40, buffer + 1);
      (void)compare(traffic, messages);
      const TrainOutcome expected = TrainTraffic(traffic, messages).run();
      for (const unsigned threads : {1U, 2U, 3U, 4U}) {
        for (const bool strict : {false, true}) {
          if (kFew && (threads == 3 || strict == (threads == 2))) continue;
          CAPTURE(threads);
          CAPTURE(strict);
          traffic.threads = threads;
          traffic.strict = strict;
          TrainTraffic other(traffic, messages);
          const TrainOutcome seen = other.run();
          CHECK(other.wrong() == 0);
          CHECK((seen.arrivals == expected.arrivals));
          CHECK((seen.departed == expected.departed));
          CHECK((seen.links == expected.links));
          CHECK(seen.events == expected.events);
          parallel |= other.ran_parallel();
        }
      }
    }
  }
  CHECK(parallel);
}

// Of two nodes in one window either may be done first: who waits may know of a buffer when it begins to, or later.
TEST_CASE("looks_for_buffers_are_counted_alike_whoever_is_first") {
  std::mt19937_64 random(3);
  const auto below = [&random](std::uint64_t n) { return static_cast<std::uint32_t>(random() % n); };
  for (std::uint64_t round = 0; round < rounds(400); ++round) {
    std::vector<Message> messages;
    for (std::uint32_t i = 0; i < 12; ++i) {
      messages.push_back(
          {below(20'000) * kNs, i % 2, 1 - i % 2, below(200), 40, 40, below(3) == 0, 0, below(2) * below(200) * kNs});
    }
    std::stable_sort(messages.begin(), messages.end(), [](const Message& a, const Message& b) { return a.at < b.at; });
    TrainOptions traffic = options("mesh2d:2x1", 60 + below(60), true);
    traffic.links.latency = {2'100 * kNs};
    CAPTURE(round);
    CAPTURE(traffic.links.buffer);
    const TrainOutcome expected = TrainTraffic(traffic, messages).run();
    traffic.threads = 2;
    const TrainOutcome seen = TrainTraffic(traffic, messages).run();
    CHECK((seen.arrivals == expected.arrivals));
    CHECK(seen.events == expected.events);
  }
}

TEST_CASE("packets_without_length_are_no_train") {
  const std::vector<Message> messages{{0, 0, 3, 5, 20, 0}, {0, 1, 3, 5, 0, 0, false, 10 * kNs}, {0, 1, 1, 5, 20, 20}};
  for (const unsigned buffer : {0U, 2U}) {
    (void)compare(options("mesh2d:4x1", buffer, true), messages);
    TrainOptions free = options("mesh2d:4x1", buffer, true);
    free.links.per_byte_fs = 0;
    (void)compare(free, messages);
  }
}

TEST_CASE("a_train_to_itself_comes_as_it_is_sent") {
  for (const bool trains : {false, true}) {
    TrainTraffic traffic(options("mesh2d:2x1", 1, trains),
                         {{70 * kNs, 1, 1, 3, 50, 20}, {200 * kNs, 1, 1, 3, 50, 20, false, 30 * kNs}});
    const TrainOutcome seen = traffic.run();
    CHECK(traffic.wrong() == 0);
    std::vector<std::int64_t> heads;
    for (const Arrival& each : seen.arrivals[1]) heads.push_back(each.head / kNs);
    CHECK(heads == std::vector<std::int64_t>{70, 70, 70, 200, 230, 260});
    CHECK(seen.departed[0] == 70 * kNs);
    CHECK(seen.departed[1] == 260 * kNs);
    CHECK(std::count(seen.links.begin(), seen.links.end(), 0U) == static_cast<std::int64_t>(seen.links.size()));
  }
}

TEST_CASE("a_fabric_refuses_trains_that_cannot_be") {
  testing::Nowhere sink;
  Engine engine(testing::options_for(2, 2));
  Fabric fabric(engine, Topology::parse("mesh2d:2x1"), {1'000, {1'000}, 0, true}, sink);
  Train train;
  CHECK_THROWS_AS(fabric.inject(train, {}), UsageError);
  train.count = 2;
  CHECK_THROWS_AS(fabric.inject(train, {}, {-1}), UsageError);
  CHECK_THROWS_AS(fabric.inject(train, {}), UsageError);  // to itself: the network knows of no trains
}

}  // namespace
}  // namespace gasmeter::sim
