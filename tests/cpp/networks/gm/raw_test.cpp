// The raw programs on GM verify, notice wrong data, and take the times that follow from the card's golden times.
#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <vector>

#include "gasmeter/base/error.hpp"
#include "gasmeter/networks/gm/raw/programs.hpp"
#include "networks/gm/world.hpp"
#include "support/raw_trial.hpp"

namespace gasmeter::networks::gm::raw::raw_test {
namespace {

using gasmeter::testing::metric;
using networks::gm::testing::Shape;
using networks::gm::testing::World;
using Make = std::unique_ptr<Program> (*)(Context, const Settings&);
using Trial = gasmeter::testing::RawTrial<Context>;

struct Outcome : gasmeter::testing::RawOutcome {
  std::uint64_t no_receive = 0;  // of all ranks
};

Outcome attempt(const Trial& trial, const Shape& shape = {}, const GmParameters& parameters = {}) {
  World world(shape, parameters);
  Outcome outcome{gasmeter::testing::attempt(world, shape.ranks, trial, [&](std::uint32_t rank) {
    return Context{world.port(rank), world.host(rank), Rank{rank}, shape.ranks};
  })};
  for (std::uint32_t rank = 0; rank < shape.ranks; ++rank) {
    outcome.no_receive += world.port(rank).counters().no_receive;
  }
  return outcome;
}

TEST_CASE("raw_gm_programs_verify") {
  for (const Make make : {&make_ping_pong, &make_flood}) {
    for (const std::string op : {"am-short", "am-medium", "am-long", "put"}) {
      for (const Bytes size : {Bytes{1}, Bytes{8}, Bytes{200}, Bytes{3000}}) {
        for (const unsigned ranks : {2U, 3U}) {
          CAPTURE(op);
          CAPTURE(size);
          CAPTURE(ranks);
          const Outcome outcome =
              attempt({make, op, size, 300}, {.ranks = ranks, .topology = ranks == 2 ? "crossbar:2" : "crossbar:3"});
          CHECK(outcome.verification.checked > 0);
          CHECK(outcome.verification.errors == 0);
          CHECK(outcome.block.elapsed.ps > 0);
          CHECK(outcome.no_receive == 0);
        }
      }
    }
  }
}

TEST_CASE("raw_gm_programs_that_disagree_about_the_data_are_found") {
  for (const Make make : {&make_ping_pong, &make_flood}) {
    for (const std::string op : {"am-medium", "am-long", "put"}) {
      CAPTURE(op);
      CHECK(attempt({make, op, 300, 20, true}).verification.errors > 100);
    }
  }
}

// tests/golden/gm.md: one way of a message takes 1050 from its call, and 140 to take it. The receive is provided again
// (72) before the next send (102). That send waits at most for an acknowledgement in the card's processor.
TEST_CASE("raw_gm_round_trip_is_two_messages") {
  const double ns = metric(attempt({&make_ping_pong, "am-short"}), "round_trip");
  CHECK(ns >= 2 * (1050 + 140 + 72));
  CHECK(ns <= 2 * (1050 + 140 + 72 + 100 + 20));
}

// tests/golden/gm.md: a directed send of 8 B is over at 1532.
TEST_CASE("raw_gm_put_is_over_with_its_acknowledgement") {
  CHECK(metric(attempt({&make_ping_pong, "put"}), "latency") == doctest::Approx(1532).epsilon(0.01));
}

const GmParameters kWithGets{.gets = true};

TEST_CASE("raw_gm_programs_of_gets_verify_where_the_cards_have_them") {
  for (const Make make : {&make_ping_pong, &make_flood}) {
    for (const Bytes size : {Bytes{1}, Bytes{8}, Bytes{200}, Bytes{3000}}) {
      for (const unsigned ranks : {2U, 3U}) {
        CAPTURE(size);
        CAPTURE(ranks);
        const Outcome outcome =
            attempt({make, "get", size, 300}, {.ranks = ranks, .topology = ranks == 2 ? "crossbar:2" : "crossbar:3"},
                    kWithGets);
        CHECK(outcome.verification.checked > 0);
        CHECK(outcome.verification.errors == 0);
        CHECK(outcome.block.elapsed.ps > 0);
      }
    }
    CHECK(attempt({make, "get", 300, 20, true}, {}, kWithGets).verification.errors > 100);
  }
}

// tests/golden/gm.md: a get of 8 B is over at 1792.
TEST_CASE("raw_gm_get_is_over_with_its_data") {
  CHECK(metric(attempt({&make_ping_pong, "get"}, {}, kWithGets), "latency") == doctest::Approx(1792).epsilon(0.01));
}

TEST_CASE("raw_gm_flood_of_gets_runs_at_the_speed_of_pci") {
  const double bandwidth =
      metric(attempt({&make_flood, "get", 64 * 1024, 100}, {}, {.packet = {200'000}, .gets = true}), "bandwidth");
  CHECK(bandwidth == doctest::Approx(1e9 * 256 / 306).epsilon(0.01));
}

TEST_CASE("raw_gm_flood_of_puts_runs_at_the_speed_of_pci") {
  // 256 B a packet, 50 + 256 each over PCI.
  const double bandwidth =
      metric(attempt({&make_flood, "put", 64 * 1024, 100}, {}, {.packet = {200'000}}), "bandwidth");
  CHECK(bandwidth == doctest::Approx(1e9 * 256 / 306).epsilon(0.01));
}

// Each message takes 300 of the target's processor, and 100 for its acknowledgement.
TEST_CASE("raw_gm_flood_of_shorts_is_bound_by_the_card") {
  CHECK(metric(attempt({&make_flood, "am-short", 8, 5000}), "rate") == doctest::Approx(1e9 / 400).epsilon(0.05));
}

TEST_CASE("raw_gm_barriers_hold_all_ranks") {
  for (const std::uint32_t ranks : {1U, 2U, 5U, 8U}) {
    CAPTURE(ranks);
    const Outcome outcome = attempt({&make_barrier, "barrier"}, {.ranks = ranks, .topology = "fat-tree:2x2"});
    CHECK(outcome.verification.checked == 8 * ranks);
    CHECK(outcome.verification.errors == 0);
  }
}

TEST_CASE("raw_gm_programs_give_the_same_lazily_strictly_and_on_any_number_of_threads") {
  for (const Trial& trial : {Trial{&make_barrier, "barrier"}, Trial{&make_flood, "am-medium", 900, 200},
                             Trial{&make_ping_pong, "am-long", 700}}) {
    const Shape shape{.ranks = 6, .topology = "fat-tree:2x2"};
    Shape strict = shape;
    strict.strict = true;
    Shape threads = shape;
    threads.threads = 2;
    const Outcome lazy = attempt(trial, shape);
    CHECK(lazy.clocks == attempt(trial, strict).clocks);
    CHECK(lazy.clocks == attempt(trial, threads).clocks);
  }
}

TEST_CASE("raw_gm_refuses_what_a_port_cannot_do") {
  CHECK_THROWS_AS((void)attempt({&make_ping_pong, "call"}), UsageError);
  CHECK_THROWS_AS((void)attempt({&make_ping_pong, "am-long", 0}), UsageError);
  for (const Make make : {&make_ping_pong, &make_flood}) CHECK_THROWS_AS((void)attempt({make, "get"}), UsageError);
}

}  // namespace
}  // namespace gasmeter::networks::gm::raw::raw_test
