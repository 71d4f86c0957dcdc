// The raw programs on SISCI verify, notice wrong data, and take the times that follow from the card's golden times.
#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <vector>

#include "gasmeter/base/error.hpp"
#include "gasmeter/networks/sci/raw/programs.hpp"
#include "networks/sci/world.hpp"
#include "support/raw_trial.hpp"

namespace gasmeter::networks::sci::raw::raw_test {
using namespace bench;

namespace {

using gasmeter::testing::metric;
using gasmeter::testing::RawOutcome;
using networks::sci::testing::Shape;
using networks::sci::testing::World;
using Make = std::unique_ptr<Program> (*)(Context, const Settings&);
using Trial = gasmeter::testing::RawTrial<Context>;

RawOutcome attempt(const Trial& trial, Path path = Path::pio, const Shape& shape = {},
                   const SciParameters& parameters = {}) {
  World world(shape, parameters);
  return gasmeter::testing::attempt(world, shape.ranks, trial, [&](std::uint32_t rank) {
    return Context{world.sisci(rank), world.host(rank), Rank{rank}, shape.ranks, path, trial.op == "put"};
  });
}

TEST_CASE("raw_sci_programs_verify") {
  SciParameters narrow;
  narrow.outstanding = 2;
  for (const Make make : {&make_ping_pong, &make_flood}) {
    for (const std::string op : {"am-short", "am-medium", "am-long", "put", "get"}) {
      for (const Bytes size : {Bytes{1}, Bytes{8}, Bytes{200}, Bytes{3000}}) {
        for (const Path path : {Path::pio, Path::dma}) {
          if (path == Path::dma && (op == "get" || size % 8 != 0)) continue;
          for (const unsigned ranks : {2U, 3U}) {
            CAPTURE(op);
            CAPTURE(size);
            CAPTURE(ranks);
            const RawOutcome outcome = attempt({make, op, size, 100}, path,
                                               {.ranks = ranks, .topology = "oneway-ring:" + std::to_string(ranks)},
                                               ranks == 2 ? SciParameters{} : narrow);
            CHECK(outcome.verification.checked > 0);
            CHECK(outcome.verification.errors == 0);
            CHECK(outcome.block.elapsed.ps > 0);
          }
        }
      }
    }
  }
}

TEST_CASE("raw_sci_programs_that_disagree_about_the_data_are_found") {
  for (const Make make : {&make_ping_pong, &make_flood}) {
    for (const std::string op : {"am-medium", "am-long", "put", "get"}) {
      for (const Path path : {Path::pio, Path::dma}) {
        if (path == Path::dma && op == "get") continue;
        CAPTURE(op);
        CHECK(attempt({make, op, 304, 20, true}, path).verification.errors > 100);
      }
    }
  }
}

// See tests/golden/sci.md. One way of 8 B is in memory after 1052. The next poll finds it, and taking it costs 50.
TEST_CASE("raw_sci_programs_take_their_golden_times") {
  const double scipp = metric(attempt({&make_ping_pong, "am-short"}), "round_trip");
  CHECK(scipp >= 2 * (1052 + 50));
  CHECK(scipp <= 2 * (1052 + 50 + 10));
  CHECK(metric(attempt({&make_ping_pong, "put"}), "latency") == 1252);
  CHECK(metric(attempt({&make_ping_pong, "get"}), "latency") == 3456);
  CHECK(metric(attempt({&make_ping_pong, "get", 24}), "latency") == 3 * 3456);
  // Posted at 116 and over at 32016. Polls that read the card, 510 each, find the end, and a read follows.
  const double dma = metric(attempt({&make_ping_pong, "put", 304}, Path::dma), "latency");
  CHECK(dma >= 32'016 + 500);
  CHECK(dma <= 32'016 + 500 + 510);
}

TEST_CASE("raw_sci_by_dma_is_refused_what_the_engine_cannot_do") {
  const auto failure = [](const std::string& op, Bytes size) -> std::string {
    try {
      (void)attempt({&make_ping_pong, op, size}, Path::dma);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "";
  };
  CHECK(failure("get", 8) == "kernel kernel on raw@sci, op get: path=dma writes; path=pio has loads");
  CHECK(failure("put", 12) == "kernel kernel on raw@sci, path=dma, size 12: the card's DMA moves multiples of 8 bytes");
  CHECK(failure("put", 16).empty());
  CHECK(failure("am-short", 8).empty());
}

TEST_CASE("raw_sci_programs_give_the_same_lazily_strictly_and_on_any_number_of_threads") {
  for (const Path path : {Path::pio, Path::dma}) {
    for (const Trial& trial : std::vector<Trial>{{&make_ping_pong, "am-medium", 512, 50},
                                                 {&make_ping_pong, "put", 512, 50},
                                                 {&make_flood, "put", 512, 50},
                                                 {&make_flood, "am-long", 512, 50},
                                                 {&make_barrier, "barrier", 512, 50}}) {
      CAPTURE(trial.op);
      const Shape shape{.ranks = 5, .topology = "oneway-torus2d:3x2", .node_of = {0, 1, 2, 4, 4}};
      const RawOutcome lazy = attempt(trial, path, shape);
      CHECK(lazy.verification.errors == 0);
      Shape other = shape;
      other.strict = true;
      CHECK(attempt(trial, path, other).clocks == lazy.clocks);
      other.strict = false;
      for (unsigned threads = 2; threads <= 4; ++threads) {
        other.threads = threads;
        CHECK(attempt(trial, path, other).clocks == lazy.clocks);
      }
    }
  }
}

}  // namespace
}  // namespace gasmeter::networks::sci::raw::raw_test
