// Two-sided messages over Portals. tests/golden/portals.md derives the golden times.
#include "gasmeter/networks/portals/portals_mpi.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gasmeter/base/error.hpp"
#include "gasmeter/bench/pattern.hpp"
#include "gasmeter/networks/mpi/raw_modelled/programs.hpp"
#include "networks/portals/world.hpp"
#include "support/effort.hpp"
#include "support/raw_trial.hpp"
#include "support/two_sided_trial.hpp"

namespace gasmeter::networks::portals::portals_mpi_test {
namespace {

using namespace testing;
using gasmeter::testing::has_pattern;
using gasmeter::testing::MessageLog;
using gasmeter::testing::MessageTimes;
using gasmeter::testing::patterned;
using gasmeter::testing::Received;
using gasmeter::testing::rounds;
using gasmeter::testing::send_message;
using gasmeter::testing::wait_for_messages;
using services::Tag;

constexpr Bytes kEager = 600;
constexpr PortalsMpiSizes kScarce{
    .overflow_buffers = 2, .overflow_buffer = 4096, .unexpected_events = 4096, .own_events = 512, .most_sends = 100};

// The prices of descriptors, system calls and the library's own work differ, so that the sums tell them apart.
struct Messages {
  explicit Messages(const PortalsMpiSizes& sizes = {}, const Shape& shape = {},
                    const PortalsParameters& parameters = {})
      : engine(options(shape)), network(engine, shape.wiring(World::kTopology), parameters) {
    for (unsigned i = 0; i < shape.ranks; ++i) {
      ranks.push_back(std::make_unique<PortalsMpi>(network.portals(Rank{i}), host(i), sizes));
    }
  }
  // For a trial: two ranks on one node. The matching core or card varies with the seed, and every second seed has small
  // sizes.
  Messages(std::uint64_t seed, bool strict, unsigned count)
      : Messages(seed % 2 == 0 ? PortalsMpiSizes{.overflow_buffers = 3,
                                                 .overflow_buffer = 16384,
                                                 .own_events = 1024,
                                                 .most_sends = 100}
                               : PortalsMpiSizes{},
                 {.ranks = count, .topology = "ring:4", .strict = strict},
                 {.mpi_eager = kEager,
                  .mode = seed % 3 == 0 ? Mode::accelerated : Mode::generic,
                  .other_core = seed % 3 == 1}) {}

  static sim::EngineOptions options(const Shape& shape) {
    using conduit::PrivatePrice;
    using conduit::SharedPrice;
    sim::EngineOptions result = World::options(shape);
    result.prices[PrivatePrice::two_sided].fixed = {500'000};
    result.prices[PrivatePrice::match].per_byte_fs = 30'000'000;
    result.prices[PrivatePrice::system_call].fixed = {200'000};
    result.prices[SharedPrice::registration] = {{400'000}, 25'000};    // and 102.4 ns a page
    result.prices[SharedPrice::deregistration] = {{200'000}, 12'500};  // and 51.2
    return result;
  }
  sim::ModelHost host(unsigned rank) { return engine.host(Rank{rank}); }
  PortalsMpi& mpi(unsigned rank) { return *ranks[rank]; }

  sim::Engine engine;
  PortalsNetwork network;
  std::vector<std::unique_ptr<PortalsMpi>> ranks;
};

void sleep(sim::ModelHost host, SimTime time) {
  sleep_until(host, host.now() + time);
}

MessageTimes times_of(Bytes bytes, bool late, const PortalsParameters& parameters = {}) {
  Messages world({}, {}, parameters);
  return gasmeter::testing::times_of_message(world, bytes, late);
}

void expect_times(Bytes bytes, bool late, const MessageTimes& expected) {
  CAPTURE(bytes);
  CAPTURE(late);
  const MessageTimes measured = times_of(bytes, late);
  CHECK(measured.sent == expected.sent);
  CHECK(measured.received == expected.received);
}

TEST_CASE("portals_mpi_messages_have_their_golden_times") {
  expect_times(8, false, {2'353'600, 5'383'600});
  expect_times(100, false, {2'553'600, 5'683'600});
  expect_times(8, true, {2'353'600, 5'600'800});
}

TEST_CASE("portals_mpi_long_messages_are_fetched_and_have_their_golden_time") {
  expect_times(5000, false, {16'137'200, 18'644'400});
  expect_times(5000, true, {16'437'200, 18'987'200});
}

TEST_CASE("portals_mpi_has_its_step_where_payload_leaves_the_header_packet") {
  const std::int64_t single = times_of(1, false).received;
  CHECK(times_of(16, false).received == single);
  CHECK(times_of(17, false).received > single);
  CHECK(times_of(16, true).received - times_of(1, true).received == 1500);  // the copy's bytes
}

// Two receives match both messages, and one matches none. Receives match in the order of posting. The message that
// arrives first goes first.
TEST_CASE("portals_mpi_matches_in_order") {
  for (const bool expected : {true, false}) {
    CAPTURE(expected);
    Messages world;
    const std::vector<std::byte> payload = patterned(40, 1);
    world.engine.start(Rank{0}, [&] {
      MessageLog log;
      if (expected) sleep(world.host(0), {20'000'000});
      for (std::uint32_t i = 0; i < 4; ++i) {
        send_message(world.mpi(0), log, i, 1, Tag{i == 1 ? 6U : 5U}, std::span(payload).first(i * 10));
      }
      wait_for_messages(world.mpi(0), world.host(0), log, [&] { return log.sends.size() == 4; });
    });
    world.engine.start(Rank{1}, [&] {
      PortalsMpi& mpi = world.mpi(1);
      if (!expected) sleep(world.host(1), {50'000'000});
      std::vector<std::vector<std::byte>> buffers(4, std::vector<std::byte>(40));
      MessageLog log;
      mpi.post(0, buffers[0], Rank{0}, Tag{6});
      mpi.post(1, buffers[1], std::nullopt, Tag{5});
      mpi.post(2, buffers[2], Rank{0}, std::nullopt);
      mpi.post(3, buffers[3], std::nullopt, std::nullopt);
      wait_for_messages(mpi, world.host(1), log, [&] { return log.receives.size() == 4; });
      const std::vector<Received> by_arrival = {
          {1, Rank{0}, Tag{5}, 0}, {0, Rank{0}, Tag{6}, 10}, {2, Rank{0}, Tag{5}, 20}, {3, Rank{0}, Tag{5}, 30}};
      std::vector<Received> by_post = by_arrival;
      std::swap(by_post[0], by_post[1]);
      CHECK(log.receives == (expected ? by_arrival : by_post));
      for (const Received& each : log.receives) CHECK(has_pattern(buffers[each.slot].data(), each.bytes, 1));
      CHECK(mpi.counters().expected == (expected ? 4 : 0));
      CHECK(mpi.counters().unexpected == (expected ? 0 : 4));
      CHECK(mpi.counters().looked_at == (expected ? 0 : 2 + 1 + 1 + 1));
    });
    world.engine.run();
  }
}

TEST_CASE("portals_mpi_receives_are_posted_again") {
  Messages world;
  const std::vector<std::byte> payload = patterned(700, 2);
  world.engine.start(Rank{0}, [&] {
    MessageLog log;
    for (std::uint32_t i = 0; i < 3; ++i) send_message(world.mpi(0), log, i, 1, Tag{i}, payload);
    wait_for_messages(world.mpi(0), world.host(0), log, [&] { return log.sends.size() == 3; });
  });
  world.engine.start(Rank{1}, [&] {
    std::vector<std::byte> buffer(700);
    MessageLog log;
    world.mpi(1).post(0, buffer, Rank{0}, std::nullopt);
    for (std::uint32_t i = 0; i < 3; ++i) {
      if (i != 0) world.mpi(1).restart(0);
      wait_for_messages(world.mpi(1), world.host(1), log, [&] { return log.receives.size() == i + 1; });
      CHECK(log.receives.back() == Received{0, Rank{0}, Tag{i}, 700});
      CHECK(has_pattern(buffer.data(), 700, 2));
    }
  });
  world.engine.run();
}

// The receive is posted around the arrival of a message: before it, after it, and between its match and its event.
TEST_CASE("portals_mpi_loses_no_message_that_comes_while_its_receive_is_posted") {
  for (const PortalsParameters& parameters :
       {PortalsParameters{}, PortalsParameters{.other_core = true}, PortalsParameters{.mode = Mode::accelerated}}) {
    std::uint64_t raced = 0;
    std::uint64_t expected = 0;
    for (std::int64_t ns = 0; ns < 6000; ns += 50) {
      CAPTURE(ns);
      Messages world({}, {}, parameters);
      const std::vector<std::byte> payload = patterned(8, 3);
      bool done = false;
      world.engine.start(Rank{0}, [&] {
        MessageLog log;
        send_message(world.mpi(0), log, 0, 1, Tag{1}, payload);
        wait_for_messages(world.mpi(0), world.host(0), log, [&] { return !log.sends.empty(); });
      });
      world.engine.start(Rank{1}, [&] {
        world.host(1).spend({ns * 1000});
        std::vector<std::byte> buffer(8);
        MessageLog log;
        world.mpi(1).post(0, buffer, std::nullopt, std::nullopt);
        wait_for_messages(world.mpi(1), world.host(1), log, [&] { return !log.receives.empty(); });
        done = has_pattern(buffer.data(), 8, 3);
      });
      world.engine.run();
      CHECK(done);
      raced += world.mpi(1).counters().raced;
      expected += world.mpi(1).counters().expected;
    }
    CHECK(raced > 0);
    CHECK(expected > 0);
    CHECK(expected < 120);
  }
}

TEST_CASE("portals_mpi_overflow_buffers_are_provided_again") {
  Messages world({.overflow_buffers = 3, .overflow_buffer = 16384, .most_sends = 100},
                 {.ranks = 3, .topology = "ring:3"}, {.mpi_eager = kEager});
  const std::uint32_t all = gasmeter::testing::flood_a_late_rank(world, 3, 30, kEager);
  CHECK(all == 60);
  CHECK(world.mpi(0).counters().most_waiting == 60);
  CHECK(world.mpi(0).counters().provided > 0);
  CHECK(world.network.portals(Rank{0}).counters().drops == 0);
}

// Six messages of 600 B use a buffer up. The buffer takes others when the last of the six has been copied out, in
// whatever order.
TEST_CASE("portals_mpi_overflow_buffers_keep_what_they_hold") {
  Messages world(kScarce, {}, {.mpi_eager = kEager});
  std::vector<std::vector<std::byte>> payloads;
  for (std::uint32_t i = 0; i < 13; ++i) payloads.push_back(patterned(600, i));
  world.engine.start(Rank{1}, [&] {
    MessageLog log;
    for (std::uint32_t i = 0; i < 13; ++i) {
      if (i == 12) sleep(world.host(1), {300'000'000});
      send_message(world.mpi(1), log, i, 0, Tag{i}, payloads[i]);
    }
    wait_for_messages(world.mpi(1), world.host(1), log, [&] { return log.sends.size() == 13; });
  });
  world.engine.start(Rank{0}, [&] {
    PortalsMpi& mpi = world.mpi(0);
    MessageLog log;
    std::vector<std::byte> buffer(600);
    const auto receive = [&](std::uint32_t tag) {
      mpi.post(0, buffer, std::nullopt, Tag{tag});
      const std::size_t before = log.receives.size();
      wait_for_messages(mpi, world.host(0), log, [&] { return log.receives.size() != before; });
      CHECK(has_pattern(buffer.data(), 600, tag));
    };
    sleep(world.host(0), {200'000'000});
    for (std::uint32_t tag = 5; tag != 0; --tag) receive(tag);
    CHECK(mpi.counters().provided == 0);
    CHECK(mpi.counters().most_waiting == 12);
    receive(0);
    CHECK(mpi.counters().provided == 1);
    sleep(world.host(0), {400'000'000});
    for (std::uint32_t tag = 6; tag < 13; ++tag) receive(tag);
    CHECK(mpi.counters().provided == 2);
  });
  world.engine.run();
  CHECK(world.network.portals(Rank{0}).counters().drops == 0);
}

template <class Body>
std::string broken(Messages& world, Body body) {
  std::string measured;
  world.engine.start(Rank{0}, [&] {
    try {
      body();
    } catch (const std::exception& error) {
      measured = error.what();
    }
  });
  world.engine.run();
  return measured;
}

// Rank 1 sends `count` messages. Rank 0 polls when all have arrived.
std::string late_look(Messages& world, std::uint32_t count, Bytes bytes) {
  world.engine.start(Rank{1}, [&world, count, bytes] {
    const std::vector<std::byte> payload(bytes);
    MessageLog log;
    for (std::uint32_t i = 0; i < count; ++i) send_message(world.mpi(1), log, i, 0, Tag{i}, payload);
    wait_for_messages(world.mpi(1), world.host(1), log, [&] { return log.sends.size() == count; });
  });
  return broken(world, [&] {
    sleep(world.host(0), {1'000'000'000});
    MessageLog log;
    while (world.mpi(0).test_some(log, 1) != 0) {
    }
  });
}

TEST_CASE("portals_mpi_says_by_name_what_it_has_no_room_for") {
  Messages overflow(kScarce, {}, {.mpi_eager = kEager});
  CHECK(late_look(overflow, 15, 600) ==
        "portals: rank 0 has no room for a message of 600 bytes from rank 1 with tag 12: its 2 overflow buffers of "
        "4096 bytes hold messages that nobody has received");
  PortalsMpiSizes few = kScarce;
  few.unexpected_events = 8;
  Messages events(few, {}, {.mpi_eager = kEager});
  CHECK_THROWS_WITH_AS(late_look(events, 5, 0),
                       "portals: rank 0's event queue 1 of 8 events overflows with PUT_START of rank 1", BrokenJob);
  few = kScarce;
  few.own_events = 104;
  Messages receives(few, {}, {.mpi_eager = kEager});
  CHECK(broken(receives, [&] {
          for (std::uint32_t i = 0; i < 3; ++i) receives.mpi(0).post(i, {}, std::nullopt, Tag{i});
        }) == "portals: rank 0 posts receive 3; an event queue of 104 events is good for 2 and 100 sends");
}

TEST_CASE("portals_mpi_refuses_sizes_that_could_not_carry_a_message") {
  CHECK_THROWS_WITH_AS((Messages{kScarce, {}, {.mpi_eager = 5000}}),
                       "portals: mpi.eager of 5000 with 2 overflow buffers of 4096 bytes; at most that, and 2 buffers "
                       "or more, are allowed",
                       UsageError);
  PortalsMpiSizes few = kScarce;
  few.own_events = 101;
  CHECK_THROWS_WITH_AS((Messages{few, {}, {.mpi_eager = 600}}),
                       "portals: 100 sends and an event queue of 101; 2 events more than sends are needed", UsageError);
}

TEST_CASE("portals_mpi_messages_that_are_longer_than_their_receives_are_errors") {
  for (const Bytes bytes : {Bytes{100}, Bytes{5000}}) {
    for (const bool late : {false, true}) {
      CAPTURE(bytes);
      CAPTURE(late);
      Messages world;
      world.engine.start(Rank{1}, [&world, bytes, late] {
        if (!late) sleep(world.host(1), {10'000'000});
        const std::vector<std::byte> payload(bytes);
        MessageLog log;
        send_message(world.mpi(1), log, 0, 0, Tag{7}, payload);
        // A message that is not received is not fetched.
        if (bytes < 4096) wait_for_messages(world.mpi(1), world.host(1), log, [&] { return !log.sends.empty(); });
        sleep(world.host(1), {60'000'000});
      });
      CHECK(broken(world,
                   [&] {
                     if (late) sleep(world.host(0), {30'000'000});
                     std::vector<std::byte> buffer(99);
                     MessageLog log;
                     world.mpi(0).post(0, buffer, Rank{1}, Tag{7});
                     wait_for_messages(world.mpi(0), world.host(0), log, [&] { return !log.receives.empty(); });
                   }) == "two-sided message of " + std::to_string(bytes) +
                             " bytes from rank 1 with tag 7 for a receive of at most 99");
    }
  }
}

// The rank uses its interface for other purposes, too: a descriptor and a queue of its own, in another portal.
TEST_CASE("portals_mpi_shares_its_interface") {
  Messages world;
  std::vector<std::byte> memory(64);
  const std::vector<std::byte> payload = patterned(8, 4);
  for (unsigned rank = 0; rank < 2; ++rank) {
    world.engine.start(Rank{rank}, [&, rank] {
      Portals& portals = world.network.portals(Rank{rank});
      const EqHandle events = portals.eq_alloc(4);
      if (rank == 1) {
        (void)portals.md_attach(
            portals.me_attach(kPortal, {.ignore = ~std::uint64_t{0}}),
            {.start = memory.data(), .length = 64, .put = true, .no_start_events = true, .events = events});
      } else {
        sleep(world.host(0), {10'000'000});
        std::vector<std::byte> message = patterned(8, 5);
        portals.put(portals.md_bind({.start = message.data(), .length = 8}), 0, 8, Ack::none,
                    {.rank = Rank{1}, .portal = kPortal});
      }
      std::vector<std::byte> buffer(8);
      MessageLog log;
      world.mpi(rank).post(0, buffer, std::nullopt, Tag{2});
      send_message(world.mpi(rank), log, 0, 1 - rank, Tag{2}, payload);
      wait_for_messages(world.mpi(rank), world.host(rank), log,
                        [&] { return !log.receives.empty() && !log.sends.empty(); });
      CHECK(has_pattern(buffer.data(), 8, 4));
      if (rank == 1) CHECK(wait_for_event(portals, world.host(1), events).portal == kPortal);
    });
  }
  world.engine.run();
  CHECK(has_pattern(memory.data(), 8, 5));
}

TEST_CASE("portals_mpi_knows_what_it_reserves_and_leaves_nothing_behind") {
  Messages world(kScarce, {}, {.mpi_eager = kEager});
  CHECK(world.mpi(0).reserved_bytes() == 2 * 4096 + (4096 + 512) * kEventEntry);
  CHECK(Messages().mpi(0).reserved_bytes() == 62'914'560 + (20480 + 16384) * kEventEntry);
  std::vector<std::byte> buffer(8);
  const std::size_t before = world.network.portals(Rank{0}).table().descriptors();
  world.mpi(0).post(3, buffer, std::nullopt, std::nullopt);
  CHECK(world.network.portals(Rank{0}).table().descriptors() == before + 1);
  world.ranks[0].reset();
  CHECK(world.network.portals(Rank{0}).table().descriptors() == before);
}

TEST_CASE("portals_mpi_random_messages_are_matched_in_order_lazily_and_strictly") {
  for (std::uint64_t seed = 1; seed <= rounds(12); ++seed) {
    CAPTURE(seed);
    gasmeter::testing::MessageTrial<Messages, kEager> lazy(seed, false);
    gasmeter::testing::MessageTrial<Messages, kEager> strict(seed, true);
    CHECK(lazy.run() == strict.run());
  }
}

// ---- programs

using Context = mpi::raw_modelled::Context<sim::ModelHost>;
using Trial = gasmeter::testing::RawTrial<Context>;

gasmeter::testing::RawOutcome attempt(const Trial& trial, const Shape& shape, const PortalsMpiSizes& sizes = {}) {
  Messages world(sizes, shape);
  return gasmeter::testing::attempt(world, shape.ranks, trial, [&](std::uint32_t rank) {
    return Context{world.mpi(rank), world.host(rank), Rank{rank}, shape.ranks};
  });
}

TEST_CASE("portals_mpi_runs_raw_programs") {
  for (const bool strict : {false, true}) {
    const Shape shape{.strict = strict};
    for (const Bytes bytes : {Bytes{8}, Bytes{16}, Bytes{5000}}) {
      const auto flood =
          attempt({.make = &mpi::raw_modelled::make_flood<sim::ModelHost>, .op = "put", .size = bytes}, shape);
      CHECK(flood.verification.errors == 0);
      CHECK(flood.verification.checked >= bench::kCheckedRounds * bytes);
      const auto acked = attempt({.make = &mpi::raw_modelled::make_ping_pong<sim::ModelHost>,
                                  .op = "put",
                                  .size = bytes,
                                  .options = {{"answer", "empty"}}},
                                 shape);
      CHECK(acked.verification.errors == 0);
    }
  }
  const auto updates = attempt({.make = &mpi::raw_modelled::make_random_access<sim::ModelHost>,
                                .op = "update",
                                .size = 32 * 1024,
                                .iterations = 500},
                               {.ranks = 5, .topology = "ring:5"});
  CHECK(updates.verification.errors == 0);
}

TEST_CASE("a_flood_of_two_sided_messages_has_as_many_on_their_way_as_it_is_told") {
  const Trial trial{.make = &mpi::raw_modelled::make_flood<sim::ModelHost>, .op = "put", .size = 8};
  const auto with = [&trial](const char* window) {
    Trial asked = trial;
    asked.options = {{"window", window}};
    return attempt(asked, {});
  };
  CHECK(with("1").block.elapsed > with("4").block.elapsed);
  CHECK_THROWS_WITH_AS((void)with("500"), "kernel flood on raw@mpi: option 'window=500': it posts at most 479 receives",
                       UsageError);
}

}  // namespace
}  // namespace gasmeter::networks::portals::portals_mpi_test
