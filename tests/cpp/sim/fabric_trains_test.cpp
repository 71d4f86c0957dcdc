// A train's packets come when they would come one by one. Golden times: tests/golden/fabric.md.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "gasmeter/base/error.hpp"
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
                            static_cast<std::uint16_t>(1 + below(bytes)), below(2) == 0, below(2) * 30 * kNs});
      }
      CAPTURE(round);
      (void)compare(options("mesh2d:6x1", buffer, true), messages);
    }
  }
}

}  // namespace
}  // namespace gasmeter::sim
