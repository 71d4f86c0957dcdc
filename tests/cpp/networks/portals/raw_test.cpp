// The raw programs on Portals verify, notice wrong data, and take the times that follow from the card's golden times.
#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <vector>

#include "gasmeter/base/error.hpp"
#include "gasmeter/networks/portals/raw/programs.hpp"
#include "networks/portals/world.hpp"
#include "support/raw_trial.hpp"

namespace gasmeter::networks::portals::raw::raw_test {
namespace {

using gasmeter::testing::metric;
using networks::portals::testing::Shape;
using networks::portals::testing::World;
using Make = std::unique_ptr<Program> (*)(Context, const Settings&);
using Trial = gasmeter::testing::RawTrial<Context>;

struct Outcome : gasmeter::testing::RawOutcome {
  std::uint64_t drops = 0;  // of all ranks
};

Outcome attempt(const Trial& trial, const Shape& shape = {}, const PortalsParameters& parameters = {}) {
  World world(shape, parameters);
  Outcome outcome{gasmeter::testing::attempt(world, shape.ranks, trial, [&](std::uint32_t rank) {
    return Context{world.portals(rank), world.host(rank), Rank{rank}, shape.ranks};
  })};
  for (std::uint32_t rank = 0; rank < shape.ranks; ++rank) outcome.drops += world.portals(rank).counters().drops;
  return outcome;
}

TEST_CASE("raw_portals_programs_verify") {
  for (const Make make : {&make_ping_pong, &make_flood}) {
    for (const std::string op : {"am-short", "am-medium", "am-long", "put", "get"}) {
      for (const Bytes size : {Bytes{1}, Bytes{16}, Bytes{17}, Bytes{5000}}) {
        for (const unsigned ranks : {2U, 3U}) {
          CAPTURE(op);
          CAPTURE(size);
          CAPTURE(ranks);
          const Outcome outcome =
              attempt({make, op, size, 300}, {.ranks = ranks, .topology = ranks == 2 ? "ring:2" : "torus2d:2x2"});
          CHECK(outcome.verification.checked > 0);
          CHECK(outcome.verification.errors == 0);
          CHECK(outcome.block.elapsed.ps > 0);
          CHECK(outcome.drops == 0);
        }
      }
    }
  }
}

TEST_CASE("raw_portals_programs_that_disagree_about_the_data_are_found") {
  for (const Make make : {&make_ping_pong, &make_flood}) {
    for (const std::string op : {"am-medium", "am-long", "put", "get"}) {
      CAPTURE(op);
      CHECK(attempt({make, op, 300, 20, true}).verification.errors > 100);
    }
  }
}

// tests/golden/portals.md: the acknowledgement comes 6658 after the call. A wait polls every 50.
TEST_CASE("raw_portals_put_is_over_with_its_acknowledgement") {
  const double ns = metric(attempt({&make_ping_pong, "put"}), "latency");
  CHECK(ns >= 6658 + 100);
  CHECK(ns <= 6658 + 100 + 50);
}

TEST_CASE("raw_portals_flood_of_puts_runs_at_the_rate_of_the_card") {
  const double bandwidth = metric(attempt({&make_flood, "put", 64 * 1024, 100}), "bandwidth");
  CHECK(bandwidth == doctest::Approx(1e9 * 65536 / (65536 + 64)).epsilon(0.01));
}

TEST_CASE("raw_portals_barriers_hold_all_ranks") {
  for (const std::uint32_t ranks : {1U, 2U, 5U, 8U}) {
    CAPTURE(ranks);
    const Outcome outcome = attempt({&make_barrier, "barrier"}, {.ranks = ranks, .topology = "torus3d:2x2x2"});
    CHECK(outcome.verification.checked == 8 * ranks);
    CHECK(outcome.verification.errors == 0);
  }
}

TEST_CASE("raw_portals_programs_give_the_same_lazily_strictly_and_on_any_number_of_threads") {
  for (const bool other_core : {false, true}) {
    for (const Mode mode : {Mode::generic, Mode::accelerated}) {
      for (const Trial& trial : {Trial{&make_barrier, "barrier"}, Trial{&make_flood, "am-medium", 900, 200},
                                 Trial{&make_flood, "put", 3000, 200}, Trial{&make_ping_pong, "get", 700}}) {
        const Shape shape{.ranks = 6, .topology = "torus3d:2x2x1"};
        Shape strict = shape;
        strict.strict = true;
        Shape threads = shape;
        threads.threads = 2;
        const PortalsParameters parameters{.dma_slots = 4, .mode = mode, .other_core = other_core};
        const Outcome lazy = attempt(trial, shape, parameters);
        CHECK(lazy.clocks == attempt(trial, strict, parameters).clocks);
        CHECK(lazy.clocks == attempt(trial, threads, parameters).clocks);
      }
    }
  }
}

}  // namespace
}  // namespace gasmeter::networks::portals::raw::raw_test
