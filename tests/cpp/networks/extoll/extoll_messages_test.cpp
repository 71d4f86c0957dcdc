// Two-sided messages on EXTOLL cards. tests/golden/extoll.md derives the golden times.
#include "gasmeter/networks/extoll/extoll_messages.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "gasmeter/base/error.hpp"
#include "gasmeter/services/matched_messages.hpp"
#include "support/two_sided_trial.hpp"
#include "world.hpp"

namespace gasmeter::networks::extoll::extoll_messages_test {
namespace {

using gasmeter::testing::MessageLog;
using gasmeter::testing::MessageTimes;
using gasmeter::testing::Received;
using gasmeter::testing::send_message;
using gasmeter::testing::wait_for_messages;
using services::MatchedMessages;
using services::Tag;

constexpr Bytes kEager = 64;

struct Messages : testing::World {
  explicit Messages(const testing::Shape& shape = {},
                    const ExtollParameters& parameters = {.mailbox_slots = 512, .read_pointer_update = 16},
                    bool node_by_memory = false)
      : World(shape, parameters), boxes(shape.ranks) {
    for (unsigned i = 0; i < shape.ranks; ++i) {
      devices.push_back(std::make_unique<ExtollMessages>(port(i), host(i)));
      near.push_back(std::make_unique<services::NodeMessages>(boxes, host(i)));
      ranks.push_back(std::make_unique<MatchedMessages>(host(i), *devices.back(),
                                                        node_by_memory ? near.back().get() : nullptr,
                                                        services::MatchingParameters{kEager}));
    }
  }
  // For a trial: two ranks on one node, and mailboxes that overflow.
  Messages(std::uint64_t seed, bool strict, unsigned count)
      : Messages({.ranks = count, .topology = "mesh2d:2x2", .strict = strict},
                 {.mailbox_slots = seed % 2 == 0 ? 4U : 64U, .read_pointer_update = 2}, seed % 3 == 0) {}
  services::MessageBoxes boxes;
  std::vector<std::unique_ptr<ExtollMessages>> devices;
  std::vector<std::unique_ptr<services::NodeMessages>> near;
  std::vector<std::unique_ptr<MatchedMessages>> ranks;
};

void expect_times(Bytes bytes, bool late, const MessageTimes& expected) {
  Messages world;
  const MessageTimes measured = gasmeter::testing::times_of_message(world, bytes, late);
  CHECK(measured.sent == expected.sent);
  CHECK(measured.received == expected.received);
}

TEST_CASE("extoll_eager_message_has_its_golden_time_expected_or_not") {
  expect_times(8, false, {174'000, 1'082'800});
  expect_times(8, true, {174'000, 1'093'600});
}

TEST_CASE("extoll_rendezvous_has_its_golden_time") {
  expect_times(100, false, {2'858'000, 3'586'000});
}

TEST_CASE("extoll_message_of_no_bytes_arrives_and_its_receive_can_be_used_again") {
  Messages world;
  world.engine.start(Rank{0}, [&] {
    MessageLog log;
    for (std::uint32_t i = 0; i < 3; ++i) send_message(*world.ranks[0], log, i, 1, Tag{i}, {});
    wait_for_messages(*world.ranks[0], world.host(0), log, [&] { return log.sends.size() == 3; });
  });
  world.engine.start(Rank{1}, [&] {
    MatchedMessages& messages = *world.ranks[1];
    MessageLog log;
    log.then = [&](const Received& received) { messages.restart(received.slot); };
    messages.post(4, {}, std::nullopt, std::nullopt);
    wait_for_messages(messages, world.host(1), log, [&] { return log.receives.size() == 3; });
    CHECK(log.receives ==
          std::vector<Received>{{4, Rank{0}, Tag{0}, 0}, {4, Rank{0}, Tag{1}, 0}, {4, Rank{0}, Tag{2}, 0}});
  });
  world.engine.run();
}

TEST_CASE("extoll_message_longer_than_its_receive_ends_the_run") {
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

// More rendezvous than the card takes commands, and more packets than a mailbox has slots, go to a rank that is late.
TEST_CASE("extoll_rendezvous_and_eager_messages_outnumber_everything_the_card_has") {
  struct Case {
    unsigned ranks;
    bool by_memory;
  };
  for (const Case& shape : {Case{2, false}, Case{4, false}, Case{4, true}}) {
    Messages world({.ranks = shape.ranks}, {.mailbox_slots = 4, .read_pointer_update = 2, .notification_slots = 2},
                   shape.by_memory);
    const std::uint32_t all = gasmeter::testing::flood_a_late_rank(world, shape.ranks, 60, kEager);
    CHECK(world.ranks[0]->counters().rendezvous == all / 3 * 2);
  }
}

TEST_CASE("extoll_messages_of_any_kind_arrive_in_order_where_order_is_promised") {
  gasmeter::testing::expect_order<Messages, kEager>(24);
}

TEST_CASE("extoll_card_whose_packets_hold_no_head_carries_no_two_sided_messages") {
  testing::World world({}, {.velo_payload = 24});
  CHECK_THROWS_AS(ExtollMessages(world.port(0), world.host(0)), UsageError);
}

}  // namespace
}  // namespace gasmeter::networks::extoll::extoll_messages_test
