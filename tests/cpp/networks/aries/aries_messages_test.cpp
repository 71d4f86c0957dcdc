// Two-sided messages on uGNI. tests/golden/aries.md derives the golden times.
#include "gasmeter/networks/aries/aries_messages.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "gasmeter/base/error.hpp"
#include "gasmeter/services/matched_messages.hpp"
#include "support/conduit_calls.hpp"
#include "support/two_sided_trial.hpp"
#include "world.hpp"

namespace gasmeter::networks::aries::aries_messages_test {
namespace {

using gasmeter::testing::MessageTimes;
using services::MatchedMessages;

constexpr Bytes kEager = 64;
constexpr AriesMessageLimits kScarce{.mailbox = 2, .sends = 3, .puts = 1};

struct Messages : testing::World {
  explicit Messages(const testing::Shape& shape = {}, const AriesMessageLimits& limits = {},
                    bool node_by_memory = false, const AriesParameters& parameters = {})
      : World(shape, parameters), mailboxes(shape.ranks, kEager, limits), boxes(shape.ranks) {
    for (unsigned i = 0; i < shape.ranks; ++i) {
      devices.push_back(std::make_unique<AriesMessages>(domain(i), host(i), mailboxes));
      near.push_back(std::make_unique<services::NodeMessages>(boxes, host(i)));
      ranks.push_back(std::make_unique<MatchedMessages>(host(i), *devices.back(),
                                                        node_by_memory ? near.back().get() : nullptr,
                                                        services::MatchingParameters{kEager}));
    }
  }
  // For a trial: two ranks on one node. Limits are tight, so that sends are refused and repeated.
  Messages(std::uint64_t seed, bool strict, unsigned count)
      : Messages({.ranks = count, .topology = "crossbar:4", .strict = strict},
                 seed % 2 == 0 ? kScarce : AriesMessageLimits{}, seed % 3 == 0) {}
  Mailboxes mailboxes;
  services::MessageBoxes boxes;
  std::vector<std::unique_ptr<AriesMessages>> devices;
  std::vector<std::unique_ptr<services::NodeMessages>> near;
  std::vector<std::unique_ptr<MatchedMessages>> ranks;
};

void expect_times(Bytes bytes, bool late, const MessageTimes& expected) {
  Messages world;
  const MessageTimes measured = gasmeter::testing::times_of_message(world, bytes, late);
  CHECK(measured.sent == expected.sent);
  CHECK(measured.received == expected.received);
}

TEST_CASE("aries_eager_message_has_its_golden_time_expected_or_not") {
  expect_times(8, false, {142'000, 862'800});
  expect_times(8, true, {142'000, 873'600});
}

TEST_CASE("aries_rendezvous_has_its_golden_time") {
  expect_times(100, false, {3'844'000, 3'502'000});
}

// A late rank has no receive for most messages. The messages wait until it has, and none is lost or doubled.
TEST_CASE("aries_rendezvous_and_eager_messages_outnumber_mailboxes_and_receives") {
  struct Case {
    unsigned ranks;
    bool by_memory;
    AriesMessageLimits limits;
  };
  for (const Case& shape : {Case{2, false, kScarce}, Case{4, false, kScarce}, Case{4, true, kScarce},
                            Case{4, false, {.mailbox = 5, .sends = 40, .puts = 2}}}) {
    CAPTURE(shape.ranks);
    CAPTURE(shape.limits.mailbox);
    Messages world({.ranks = shape.ranks}, shape.limits, shape.by_memory);
    const std::uint32_t all = gasmeter::testing::flood_a_late_rank(world, shape.ranks, 60, kEager);
    CHECK(world.ranks[0]->counters().rendezvous == all / 3 * 2);
  }
}

TEST_CASE("aries_messages_of_any_kind_arrive_in_order_where_order_is_promised") {
  gasmeter::testing::expect_order<Messages, kEager>(16);
}

// Four cards of a router share its link to the fifth card's router. Packets that find it busy take the path by the
// third router, and are overtaken or overtake others.
struct MessagesThatOvertake : Messages {
  MessagesThatOvertake(std::uint64_t /*seed*/, bool strict, unsigned count)
      : Messages({.ranks = count, .topology = "xc:1x1x3", .node_of = {0, 1, 2, 3, 4}, .strict = strict}, {}, false,
                 unordered()) {}
  static AriesParameters unordered() {
    AriesParameters parameters;
    parameters.flow = sim::kUnordered;
    return parameters;
  }
};

TEST_CASE("aries_messages_that_overtake_each_other_are_taken_in_order") {
  gasmeter::testing::expect_order<MessagesThatOvertake, kEager>(16);
}

TEST_CASE("aries_limits_that_carry_no_two_sided_message_are_refused") {
  for (const AriesMessageLimits& limits :
       {AriesMessageLimits{.mailbox = 0}, AriesMessageLimits{.sends = 0}, AriesMessageLimits{.puts = 0}}) {
    CHECK_THROWS_AS(Mailboxes(2, kEager, limits), UsageError);
  }
}

TEST_CASE("aries_messages_forget_memory_once_and_only_if_it_was_registered") {
  Messages world;
  std::vector<std::byte> memory(100);
  AriesMessages& device = *world.devices[0];
  CHECK_THROWS_AS(device.dismiss(memory), UsageError);
  device.admit(memory);
  device.admit(memory);
  device.dismiss(memory);
  const services::PutWindow window = device.open(Rank{1}, std::span(memory).subspan(10, 20), 7);
  CHECK(window.receive == 7);
  CHECK(window.address == reinterpret_cast<std::uintptr_t>(memory.data()) + 10);
  device.dismiss(memory);
  CHECK_THROWS_AS((void)device.open(Rank{1}, memory, 7), UsageError);
  CHECK_THROWS_AS(device.dismiss(memory), UsageError);
}

// A key has a handle's place and generation. After kGenerations registrations at one place, the first generation
// returns.
TEST_CASE("aries_handles_fit_into_keys") {
  testing::World world;
  Domain& domain = world.domain(0);
  std::vector<std::byte> memory(8);
  const MemoryHandle first = domain.admit(memory);
  CHECK(MemoryHandle::of_key(Rank{0}, first.key()) == first);
  domain.dismiss(first);
  for (std::uint32_t i = 1; i < MemoryHandle::kGenerations; ++i) {
    const MemoryHandle next = domain.admit(memory);
    REQUIRE(next.place == first.place);
    REQUIRE(next.key() != first.key());
    REQUIRE(MemoryHandle::of_key(Rank{0}, next.key()) == next);
    domain.dismiss(next);
  }
  CHECK(domain.admit(memory) == first);
}

}  // namespace
}  // namespace gasmeter::networks::aries::aries_messages_test
