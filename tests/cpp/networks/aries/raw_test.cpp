// The raw programs on Aries verify, notice wrong data, and take the times that follow from the card's golden times.
#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <vector>

#include "gasmeter/base/error.hpp"
#include "gasmeter/networks/aries/raw/programs.hpp"
#include "networks/aries/world.hpp"
#include "support/raw_trial.hpp"

namespace gasmeter::networks::aries::raw::raw_test {
namespace {

using gasmeter::testing::metric;
using networks::aries::testing::Shape;
using networks::aries::testing::World;
using Make = std::unique_ptr<Program> (*)(Context, const Settings&);
using Trial = gasmeter::testing::RawTrial<Context>;
using Outcome = gasmeter::testing::RawOutcome;

Outcome attempt(Trial trial, const Shape& shape = {}, Engine engine = Engine::automatic,
                const AriesParameters& parameters = {}) {
  World world(shape, parameters);
  Boxes boxes;
  trial.options.insert({"type", "u64"});
  return gasmeter::testing::attempt(world, shape.ranks, trial, [&](std::uint32_t rank) {
    return Context{world.domain(rank), world.host(rank), Rank{rank}, shape.ranks, boxes, engine};
  });
}

TEST_CASE("raw_aries_programs_verify") {
  for (const Make make : {&make_ping_pong, &make_flood}) {
    for (const std::string op : {"am-short", "am-medium", "am-long", "put", "get"}) {
      for (const Bytes size : {Bytes{1}, Bytes{64}, Bytes{65}, Bytes{4096}, Bytes{5001}}) {
        for (const Engine engine : {Engine::automatic, Engine::fma, Engine::bte}) {
          for (const unsigned ranks : {2U, 3U}) {
            CAPTURE(op);
            CAPTURE(size);
            CAPTURE(ranks);
            const Outcome outcome = attempt(
                {make, op, size, 300}, {.ranks = ranks, .topology = ranks == 2 ? "crossbar:2" : "torus2d:2x2"}, engine);
            CHECK(outcome.verification.checked > 0);
            CHECK(outcome.verification.errors == 0);
            CHECK(outcome.block.elapsed.ps > 0);
          }
        }
      }
    }
  }
}

TEST_CASE("raw_aries_messages_of_no_bytes_come_and_go") {
  for (const Make make : {&make_ping_pong, &make_flood}) {
    for (const std::string op : {"am-short", "am-medium"}) {
      CAPTURE(op);
      const Outcome outcome = attempt({make, op, 0, 20});
      CHECK(outcome.verification.errors == 0);
      CHECK(outcome.block.elapsed.ps > 0);
    }
  }
}

TEST_CASE("raw_aries_programs_that_disagree_about_the_data_are_found") {
  for (const Make make : {&make_ping_pong, &make_flood}) {
    for (const std::string op : {"am-medium", "am-long", "put", "get"}) {
      CAPTURE(op);
      CHECK(attempt({make, op, 300, 20, true}).verification.errors > 100);
    }
  }
}

// tests/golden/aries.md: 856 after the post of 48. A wait polls every 100, and its success costs one look into the
// other queue.
TEST_CASE("raw_aries_put_is_over_with_its_global_event") {
  const double ns = metric(attempt({&make_ping_pong, "put"}), "latency");
  CHECK(ns >= 48 + 856 + 100 + 50);
  CHECK(ns <= 48 + 856 + 100 + 50 + 100);
}

// 1024 B of payload take 1408 of a link.
TEST_CASE("raw_aries_flood_of_puts_runs_at_the_rate_of_the_link") {
  for (const Engine engine : {Engine::fma, Engine::bte}) {
    const double bandwidth = metric(attempt({&make_flood, "put", 64 * 1024, 100}, {}, engine), "bandwidth");
    CHECK(bandwidth == doctest::Approx(1e9 * 1024 / 1408).epsilon(0.02));
  }
}

// Stores of 2 ns a byte limit a window, but not an engine.
TEST_CASE("raw_aries_windows_are_as_fast_as_stores") {
  AriesParameters parameters;
  parameters.pio_per_byte_fs = 2'000'000;
  const auto bandwidth = [&](Engine engine) {
    return metric(attempt({&make_flood, "put", 64 * 1024, 100}, {}, engine, parameters), "bandwidth");
  };
  CHECK(bandwidth(Engine::fma) == doctest::Approx(0.5e9).epsilon(0.02));
  CHECK(bandwidth(Engine::bte) == doctest::Approx(1e9 * 1024 / 1408).epsilon(0.02));
}

// Engines start short transfers one by one. Two engines do so at the same time.
TEST_CASE("raw_aries_engines_are_held_by_their_start") {
  for (const unsigned engines : {1U, 2U}) {
    AriesParameters parameters;
    parameters.bte_engines = engines;
    const double rate = metric(attempt({&make_flood, "put", 8, 400}, {}, Engine::bte, parameters), "rate");
    CHECK(rate == doctest::Approx(1e6 * engines / (1 + 0.008 + 0.01)).epsilon(0.03));
  }
}

TEST_CASE("raw_aries_barriers_hold_all_ranks") {
  for (const std::uint32_t ranks : {1U, 2U, 5U, 8U}) {
    CAPTURE(ranks);
    const Outcome outcome = attempt({&make_barrier, "barrier"}, {.ranks = ranks, .topology = "torus3d:2x2x2"});
    CHECK(outcome.verification.checked == 8 * ranks);
    CHECK(outcome.verification.errors == 0);
  }
}

TEST_CASE("raw_aries_fetch_adds_verify") {
  for (const std::string op : {"latency", "rate", "hot-spot"}) {
    for (const std::string type : {"u32", "u64"}) {
      for (const std::uint32_t ranks : {2U, 5U, 16U}) {
        CAPTURE(op);
        CAPTURE(ranks);
        Trial trial{&make_fetch_add, op, 8, 100};
        trial.options = {{"type", type}};
        const Outcome outcome = attempt(trial, {.ranks = ranks, .topology = "torus3d:2x2x2"});
        CHECK(outcome.verification.checked > 0);
        CHECK(outcome.verification.errors == 0);
      }
    }
  }
}

// The last link limits the rate if an operation takes longer there. A single operation takes 884 after its post of 48,
// and the polls.
TEST_CASE("raw_aries_hot_spot_is_limited_by_the_unit") {
  const Outcome many = attempt({&make_fetch_add, "hot-spot", 8, 600}, {.ranks = 48, .topology = "crossbar:16"});
  CHECK(metric(many, "rate") ==
        doctest::Approx(1e9 / 32 * 48 / 45).epsilon(0.05));  // 32 B on the last link, except for node mates
  AriesParameters slow;
  slow.amo.ps = 50'000;
  CHECK(metric(attempt({&make_fetch_add, "hot-spot", 8, 600}, {.ranks = 48, .topology = "crossbar:16"},
                       Engine::automatic, slow),
               "rate") == doctest::Approx(1e9 / 50).epsilon(0.05));
  const double one = metric(attempt({&make_fetch_add, "latency", 8, 100}), "latency");
  CHECK(one >= 48 + 884 + 150);
  CHECK(one <= 48 + 884 + 150 + 100);
}

TEST_CASE("raw_aries_programs_give_the_same_lazily_strictly_and_on_any_number_of_threads") {
  for (const Engine engine : {Engine::automatic, Engine::bte}) {
    for (const Trial& trial : {Trial{&make_barrier, "barrier"}, Trial{&make_flood, "am-medium", 900, 200},
                               Trial{&make_flood, "put", 3000, 200}, Trial{&make_ping_pong, "get", 701},
                               Trial{&make_fetch_add, "hot-spot", 8, 50}}) {
      const Shape shape{.ranks = 6, .topology = "torus3d:2x2x1"};
      const Outcome lazy = attempt(trial, shape, engine);
      for (const unsigned threads : {1U, 2U, 4U}) {
        for (const bool strict : {false, true}) {
          Shape other = shape;
          other.threads = threads;
          other.strict = strict;
          CHECK(lazy.clocks == attempt(trial, other, engine).clocks);
        }
      }
    }
  }
}

}  // namespace
}  // namespace gasmeter::networks::aries::raw::raw_test
