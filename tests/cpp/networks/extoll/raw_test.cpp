// The raw programs on EXTOLL cards verify, notice wrong data, and take the times that follow from the card's golden
// times.
#include <doctest/doctest.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "gasmeter/base/error.hpp"
#include "gasmeter/networks/extoll/raw/programs.hpp"
#include "networks/extoll/world.hpp"
#include "support/raw_trial.hpp"

namespace gasmeter::networks::extoll::raw::raw_test {
using namespace bench;

namespace {

using gasmeter::testing::metric;
using networks::extoll::ExtollParameters;
using networks::extoll::testing::Shape;
using networks::extoll::testing::World;
using Make = std::unique_ptr<Program> (*)(Context, const Settings&);
using Trial = gasmeter::testing::RawTrial<Context>;

struct Outcome : gasmeter::testing::RawOutcome {
  std::uint64_t dropped = 0;  // packets of all ranks that found a full mailbox
  std::uint64_t held = 0;
};

const ExtollParameters kRoomy{
    .link = {2'000'000, {300'000}, 16}, .mailbox_slots = 512, .read_pointer_update = 64, .notification_slots = 512};

Outcome attempt(const Trial& trial, const Shape& shape, const ExtollParameters& parameters = kRoomy,
                Path path = Path::automatic) {
  World world(shape, parameters);
  Outcome outcome{gasmeter::testing::attempt(world, shape.ranks, trial, [&](std::uint32_t rank) {
    return Context{world.port(rank), world.host(rank), Rank{rank}, shape.ranks, path};
  })};
  for (std::uint32_t rank = 0; rank < shape.ranks; ++rank) {
    outcome.dropped += world.port(rank).counters().velo_dropped;
    outcome.held += world.port(rank).counters().velo_held;
  }
  return outcome;
}

// How updates of RandomAccess travel.
struct Flow {
  std::string window;
  std::string packed;
  [[nodiscard]] std::map<std::string, std::string> options() const { return {{"window", window}, {"packed", packed}}; }
};
const std::vector<Flow> kFlows = {{"0", "true"}, {"0", "false"}, {"1", "true"}, {"16", "true"}};

const std::vector<std::string> kOps = {"am-short", "am-medium", "am-long", "put", "get"};

TEST_CASE("raw_extoll_programs_verify") {
  for (const Make make : {&make_ping_pong, &make_flood}) {
    for (const std::string& op : kOps) {
      for (const Bytes size : {Bytes{1}, Bytes{8}, Bytes{56}, Bytes{57}, Bytes{1000}, Bytes{30'000}}) {
        for (const unsigned ranks : {2U, 3U}) {
          CAPTURE(op);
          CAPTURE(size);
          CAPTURE(ranks);
          const Outcome outcome = attempt({make, op, size}, {.ranks = ranks, .topology = "mesh2d:3x1"});
          CHECK(outcome.verification.checked > 0);
          CHECK(outcome.verification.errors == 0);
          CHECK(outcome.dropped == 0);
          CHECK(outcome.block.elapsed.ps > 0);
        }
      }
    }
  }
}

TEST_CASE("raw_extoll_programs_that_disagree_about_the_data_are_found") {
  for (const Make make : {&make_ping_pong, &make_flood}) {
    for (const std::string& op : kOps) {
      for (const Bytes size : {Bytes{8}, Bytes{1000}}) {
        CAPTURE(op);
        CAPTURE(size);
        CHECK(attempt({make, op, size, 20, true}, {}).verification.errors > 0);
      }
    }
  }
}

TEST_CASE("raw_extoll_programs_verify_by_either_unit_at_every_size") {
  for (const Path path : {Path::velo, Path::rma}) {
    for (const Make make : {&make_ping_pong, &make_flood}) {
      for (const std::string& op : kOps) {
        if (path == Path::velo && op == "get") continue;
        for (const Bytes size : {Bytes{1}, Bytes{8}, Bytes{40}, Bytes{41}, Bytes{56}, Bytes{57}, Bytes{8192}}) {
          CAPTURE(path == Path::velo);
          CAPTURE(op);
          CAPTURE(size);
          const Outcome outcome = attempt({make, op, size}, {.ranks = 3, .topology = "mesh2d:3x1"}, kRoomy, path);
          CHECK(outcome.verification.checked > 0);
          CHECK(outcome.verification.errors == 0);
          CHECK(outcome.dropped == 0);
          CHECK(attempt({make, op, size, 20, true}, {}, kRoomy, path).verification.errors > 0);
        }
      }
    }
  }
}

// Messages are longer than the mailbox, and the card holds back packets that find no slot.
TEST_CASE("raw_extoll_messages_of_more_packets_than_slots_arrive") {
  const ExtollParameters tiny{.mailbox_slots = 16, .read_pointer_update = 2};
  for (const char* op : {"am-medium", "am-long", "put"}) {
    const Outcome outcome = attempt({&make_ping_pong, op, 8192}, {}, tiny, Path::velo);
    CHECK(outcome.verification.errors == 0);
    CHECK(outcome.dropped == 0);
  }
}

TEST_CASE("raw_extoll_paths_take_what_their_packets_take") {
  // Two packets are copied out of their slots: 1180 one way, without the polls (tests/golden/extoll.md).
  const double two = metric(attempt({&make_ping_pong, "am-medium", 100}, {}, kRoomy, Path::velo), "round_trip");
  CHECK(two >= 2 * 1170);
  CHECK(two <= 2 * 1200);
  // A message that fits one packet is the same on every path.
  const auto elapsed = [](const char* op, Bytes size, Path path) {
    return attempt({&make_ping_pong, op, size}, {}, kRoomy, path).block.elapsed.ps;
  };
  CHECK(elapsed("am-medium", 56, Path::velo) == elapsed("am-medium", 56, Path::automatic));
  // A put of 8 B and its notification take 1240 one way.
  CHECK(elapsed("am-short", 8, Path::rma) == elapsed("am-long", 8, Path::automatic));
  CHECK(elapsed("am-medium", 8, Path::rma) == elapsed("am-long", 8, Path::automatic));
  CHECK(elapsed("am-medium", 1000, Path::rma) == elapsed("am-medium", 1000, Path::automatic));
}

TEST_CASE("raw_extoll_paths_that_a_program_does_not_have_are_refused") {
  CHECK_THROWS_WITH_AS((void)attempt({&make_ping_pong, "get"}, {}, kRoomy, Path::velo),
                       "kernel kernel on raw@extoll, op get: option 'path=velo': VELO has no gets; allowed: path=auto, "
                       "path=rma",
                       UsageError);
  CHECK_THROWS_WITH_AS((void)attempt({&make_barrier, "barrier"}, {}, kRoomy, Path::rma),
                       "kernel kernel on raw@extoll, op barrier: option 'path=rma': it has path=auto alone",
                       UsageError);
  ExtollParameters narrow = kRoomy;
  narrow.velo_payload = 16;
  CHECK_THROWS_WITH_AS((void)attempt({&make_ping_pong, "put"}, {}, narrow, Path::velo),
                       "raw@extoll, path=velo: velo.payload of 16; more than 16 is needed", UsageError);
}

TEST_CASE("raw_extoll_round_trip_is_two_packets") {
  // One way takes 920. Each wait is rounded to polls of 10: at most 10 more each.
  const double ns = metric(attempt({&make_ping_pong, "am-short"}, {}), "round_trip");
  CHECK(ns >= 2 * 918);
  CHECK(ns <= 2 * 928);
}

TEST_CASE("raw_extoll_flood_of_full_packets_runs_at_the_speed_of_the_link") {
  const double rate = metric(attempt({&make_flood, "am-medium", 56, 5000}, {}), "rate");
  CHECK(rate < 1e9 / 160);
  CHECK(rate > 0.9 * 1e9 / 160);
}

// The times include the polls of every wait, so that the test sees a charge too many, too few, or at another place.
TEST_CASE("raw_extoll_programs_take_these_times_to_the_picosecond") {
  struct Times {
    std::string op;
    std::vector<std::int64_t> ns;  // for 20: ping-pong of 8 B and of 1000 B, flood of 8 B and of 1000 B
  };
  const std::vector<Times> all = {
      {"am-short", {36'880, 36'880, 3'800, 3'800}},  {"am-medium", {36'880, 142'680, 3'800, 44'990}},
      {"am-long", {49'680, 142'680, 5'950, 44'990}}, {"put", {43'280, 89'880, 5'950, 44'990}},
      {"get", {36'480, 82'880, 5'620, 44'580}},
  };
  for (const Times& times : all) {
    CAPTURE(times.op);
    std::vector<std::int64_t> ns;
    for (const Make make : {&make_ping_pong, &make_flood}) {
      for (const Bytes size : {Bytes{8}, Bytes{1000}}) {
        const Outcome outcome = attempt({make, times.op, size}, {});
        CHECK(outcome.block.elapsed.ps % 1000 == 0);
        ns.push_back(outcome.block.elapsed.ps / 1000);
      }
    }
    CHECK(ns == times.ns);
  }
  CHECK(attempt({&make_barrier, "barrier"}, {.ranks = 5, .topology = "mesh2d:2x2"}).block.elapsed.ps == 56'640'000);
}

TEST_CASE("raw_extoll_barriers_hold_all_ranks") {
  for (const unsigned ranks : {1U, 2U, 3U, 5U, 8U, 13U}) {
    CAPTURE(ranks);
    const Outcome outcome = attempt({&make_barrier, "barrier"}, {.ranks = ranks, .topology = "ring:4"});
    CHECK(outcome.verification.checked == 8 * ranks);
    CHECK(outcome.verification.errors == 0);
  }
}

TEST_CASE("raw_extoll_random_access_applies_every_update_once") {
  for (const unsigned ranks : {1U, 2U, 3U, 8U}) {
    for (const Flow& flow : kFlows) {
      CAPTURE(ranks);
      CAPTURE(flow.window);
      CAPTURE(flow.packed);
      const Outcome outcome = attempt({.make = &make_random_access,
                                       .op = "update",
                                       .size = 32 * 1024,
                                       .iterations = 3000,
                                       .options = flow.options()},
                                      {.ranks = ranks, .topology = "ring:4"});
      CHECK(outcome.verification.checked == 4096);
      CHECK(outcome.verification.errors == 0);
      CHECK(metric(outcome, "gups") > 0);
    }
  }
}

TEST_CASE("raw_extoll_random_access_loses_nothing_where_mailboxes_are_too_small_for_all") {
  const ExtollParameters tight{.mailbox_slots = 12, .velo_receive_engine = {50'000}, .read_pointer_update = 4};
  for (const Flow& flow : kFlows) {
    CAPTURE(flow.window);
    CAPTURE(flow.packed);
    const Outcome outcome = attempt(
        {.make = &make_random_access, .op = "update", .size = 32 * 1024, .iterations = 2000, .options = flow.options()},
        {.ranks = 16, .topology = "mesh2d:4x4"}, tight);
    CHECK((outcome.held > 0 || flow.window == "1"));
    CHECK(outcome.dropped == 0);
    CHECK(outcome.verification.checked == 4096);
    CHECK(outcome.verification.errors == 0);
  }
}

// Rank 0 makes one update for rank 1. Rank 1 makes one for itself.
TEST_CASE("raw_extoll_update_with_a_window_has_its_golden_time") {
  const Outcome outcome = attempt({.make = &make_random_access,
                                   .op = "update",
                                   .size = 64,
                                   .iterations = 1,
                                   .blocks = 1,
                                   .seed = gasmeter::testing::kOneCrosses,
                                   .options = {{"window", "1"}}},
                                  {});
  CHECK(outcome.block.elapsed.ps == 1'938'000);
}

TEST_CASE("raw_extoll_programs_give_the_same_lazily_strictly_and_on_any_number_of_threads") {
  const auto by_velo = [](const Shape& shape) {
    return attempt({&make_flood, "am-medium", 300}, shape, kRoomy, Path::velo).clocks;
  };
  CHECK(by_velo({.ranks = 3, .topology = "ring:3"}) == by_velo({.ranks = 3, .topology = "ring:3", .strict = true}));
  CHECK(by_velo({.ranks = 3, .topology = "ring:3"}) == by_velo({.ranks = 3, .topology = "ring:3", .threads = 3}));
  for (const auto& trial : {Trial{&make_random_access, "update", 32 * 1024, 1000}, Trial{&make_barrier, "barrier"},
                            Trial{&make_flood, "am-short"}, Trial{&make_ping_pong, "put", 700}}) {
    const Outcome lazy = attempt(trial, {.ranks = 8, .topology = "mesh2d:2x2"});
    CHECK(lazy.clocks == attempt(trial, {.ranks = 8, .topology = "mesh2d:2x2", .strict = true}).clocks);
    for (unsigned threads = 2; threads <= 4; ++threads) {
      CHECK(lazy.clocks == attempt(trial, {.ranks = 8, .topology = "mesh2d:2x2", .threads = threads}).clocks);
    }
  }
}

}  // namespace
}  // namespace gasmeter::networks::extoll::raw::raw_test
