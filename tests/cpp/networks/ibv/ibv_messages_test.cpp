// Two-sided messages on InfiniBand verbs. tests/golden/ibv.md derives the golden times.
#include "gasmeter/networks/ibv/ibv_messages.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "gasmeter/base/error.hpp"
#include "gasmeter/networks/mpi/mpi_conduit.hpp"
#include "gasmeter/services/matched_messages.hpp"
#include "support/conduit_calls.hpp"
#include "support/two_sided_trial.hpp"
#include "world.hpp"

namespace gasmeter::networks::ibv::ibv_messages_test {
namespace {

using gasmeter::testing::MessageLog;
using gasmeter::testing::MessageTimes;
using gasmeter::testing::send_message;
using gasmeter::testing::wait_for_messages;
using services::MatchedMessages;
using services::Tag;

constexpr Bytes kEager = 64;
constexpr IbvMessageLimits kScarce{.receives = 2, .all_sends = 3, .peer_sends = 2};

struct Messages : testing::World {
  explicit Messages(const testing::Shape& shape = {}, const IbvParameters& parameters = {},
                    const IbvMessageLimits& limits = {}, bool node_by_memory = false, Bytes eager = kEager,
                    bool is_cached = false)
      : World(shape, parameters), boxes(shape.ranks) {
    for (unsigned i = 0; i < shape.ranks; ++i) {
      devices.push_back(std::make_unique<IbvMessages>(context(i), host(i), shape.ranks, eager, limits));
      near.push_back(std::make_unique<services::NodeMessages>(boxes, host(i)));
      ranks.push_back(std::make_unique<MatchedMessages>(host(i), *devices.back(),
                                                        node_by_memory ? near.back().get() : nullptr,
                                                        services::MatchingParameters{eager}, is_cached));
    }
  }
  // For a trial: two ranks on one node. Limits are tight, so that sends are refused and repeated.
  Messages(std::uint64_t seed, bool strict, unsigned count)
      : Messages({.ranks = count, .topology = "crossbar:4", .strict = strict}, {.not_ready_timer = {2'000'000}},
                 seed % 2 == 0 ? kScarce : IbvMessageLimits{}, seed % 3 == 0) {}
  services::MessageBoxes boxes;
  std::vector<std::unique_ptr<IbvMessages>> devices;
  std::vector<std::unique_ptr<services::NodeMessages>> near;
  std::vector<std::unique_ptr<MatchedMessages>> ranks;
};

void expect_times(Bytes bytes, bool late, const MessageTimes& expected) {
  Messages world;
  const MessageTimes measured = gasmeter::testing::times_of_message(world, bytes, late);
  CHECK(measured.sent == expected.sent);
  CHECK(measured.received == expected.received);
}

TEST_CASE("ibv_eager_message_has_its_golden_time_expected_or_not") {
  expect_times(8, false, {208'800, 1'112'800});
  expect_times(8, true, {208'800, 1'123'600});
}

TEST_CASE("ibv_rendezvous_has_its_golden_time") {
  expect_times(100, false, {4'358'000, 3'508'000});
}

TEST_CASE("ibv_message_longer_than_its_receive_ends_the_run") {
  for (const Bytes bytes : {Bytes{9}, Bytes{1000}}) {
    Messages world;
    const std::vector<std::byte> payload(bytes);
    std::vector<std::byte> buffer(8);
    world.engine.start(Rank{0}, [&] {
      MessageLog log;
      send_message(*world.ranks[0], log, 0, 1, Tag{0}, payload);
    });
    world.engine.start(Rank{1}, [&] {
      MessageLog log;
      world.ranks[1]->post(0, buffer, std::nullopt, std::nullopt);
      wait_for_messages(*world.ranks[1], world.host(1), log, [&] { return !log.receives.empty(); });
    });
    CHECK_THROWS_AS(world.engine.run(), UsageError);
  }
}

TEST_CASE("mpi_short_round_trip_on_ibv_has_its_golden_time") {
  struct MpiWorld : Messages {
    MpiWorld() : Messages({}, {}, {}, false, services::MatchingParameters{}.eager) {
      for (unsigned i = 0; i < 2; ++i) {
        conduits.push_back(
            std::make_unique<mpi::MpiConduit<sim::ModelHost>>(host(i), *ranks[i], Rank{i}, engine.ranks()));
      }
    }
    std::vector<std::unique_ptr<mpi::MpiConduit<sim::ModelHost>>> conduits;
  };
  MpiWorld world;
  const gasmeter::testing::RoundTrip measured = gasmeter::testing::short_round_trip(world);
  CHECK(measured.sent == 237'600);
  CHECK(measured.handled == 1'143'600);
  CHECK(measured.replied == 1'381'200);
  CHECK(measured.answered == 2'291'200);
}

TEST_CASE("ibv_rendezvous_pays_for_its_memory_and_keeps_it_where_there_is_a_cache") {
  for (const bool is_cached : {false, true}) {
    CAPTURE(is_cached);
    Messages world({.registration = {{1'000'000}, 50'000}}, {}, {}, false, kEager, is_cached);
    const MessageTimes measured = gasmeter::testing::times_of_message(world, 100, false);
    CHECK(measured.sent == (is_cached ? 5'062'800 : 5'562'800));
    CHECK(measured.received == 4'712'800);
  }
}

// A late rank has no receive for most messages. The messages are sent again until it has, and none is lost or doubled.
TEST_CASE("ibv_rendezvous_and_eager_messages_outnumber_buffers_and_receives") {
  struct Case {
    unsigned ranks;
    bool by_memory;
  };
  for (const Case& shape : {Case{2, false}, Case{4, false}, Case{4, true}}) {
    Messages world({.ranks = shape.ranks}, {}, kScarce, shape.by_memory);
    const std::uint32_t all = gasmeter::testing::flood_a_late_rank(world, shape.ranks, 60, kEager);
    CHECK(world.ranks[0]->counters().rendezvous == all / 3 * 2);
    CHECK(world.context(0).counters().not_ready > 0);
  }
}

TEST_CASE("ibv_messages_of_any_kind_arrive_in_order_where_order_is_promised") {
  gasmeter::testing::expect_order<Messages, kEager>(16);
}

TEST_CASE("ibv_limits_that_carry_no_two_sided_message_are_refused") {
  for (const IbvMessageLimits& limits :
       {IbvMessageLimits{.receives = 0}, IbvMessageLimits{.all_sends = 0}, IbvMessageLimits{.peer_sends = 1}}) {
    testing::World world;
    CHECK_THROWS_AS(IbvMessages(world.context(0), world.host(0), 2, kEager, limits), UsageError);
  }
}

TEST_CASE("ibv_memory_is_forgotten_once_and_only_if_it_was_registered") {
  testing::World world;
  std::vector<std::byte> memory(100);
  CHECK_THROWS_AS(world.context(0).dismiss(memory), UsageError);
  world.context(0).register_memory(memory);
  world.context(0).dismiss(memory);
  CHECK_FALSE(world.context(0).is_registered(memory.data(), 1));
  CHECK_THROWS_AS(world.context(0).dismiss(memory), UsageError);
}

}  // namespace
}  // namespace gasmeter::networks::ibv::ibv_messages_test
