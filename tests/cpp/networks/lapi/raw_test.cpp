// The raw programs on LAPI verify, notice wrong data, and take the times that follow from the golden times.
#include <doctest/doctest.h>

#include <memory>
#include <string>

#include "gasmeter/networks/lapi/raw/programs.hpp"
#include "networks/lapi/world.hpp"
#include "support/raw_trial.hpp"

namespace gasmeter::networks::lapi::raw::raw_test {
namespace {

using gasmeter::testing::metric;
using networks::lapi::testing::Shape;
using networks::lapi::testing::World;
using Make = std::unique_ptr<Program> (*)(Context, const Settings&);
using Trial = gasmeter::testing::RawTrial<Context>;
using Outcome = gasmeter::testing::RawOutcome;

Outcome attempt(const Trial& trial, bool rdma = true, const Shape& shape = {}) {
  World world(shape);
  return gasmeter::testing::attempt(world, shape.ranks, trial, [&](std::uint32_t rank) {
    return Context{world.task(rank), world.host(rank), Rank{rank}, shape.ranks, rdma};
  });
}

TEST_CASE("raw_lapi_programs_verify") {
  for (const Make make : {&make_ping_pong, &make_flood}) {
    for (const std::string op : {"am-short", "am-medium", "am-long", "put", "get"}) {
      for (const Bytes size : {Bytes{1}, Bytes{8}, Bytes{1025}, Bytes{60'000}}) {
        for (const bool rdma : {true, false}) {
          CAPTURE(op);
          CAPTURE(size);
          CAPTURE(rdma);
          const Outcome outcome = attempt({make, op, size, 50}, rdma);
          CHECK(outcome.verification.checked > 0);
          CHECK(outcome.verification.errors == 0);
          CHECK(outcome.block.elapsed.ps > 0);
        }
      }
    }
  }
}

TEST_CASE("raw_lapi_programs_that_disagree_about_the_data_are_found") {
  for (const Make make : {&make_ping_pong, &make_flood}) {
    for (const std::string op : {"am-medium", "am-long", "put", "get"}) {
      CAPTURE(op);
      CHECK(attempt({make, op, 300, 20, true}).verification.errors > 100);
    }
  }
}

// tests/golden/lapi.md: a put or get of 8 B takes 4260 from its call in RDMA mode, and 2420.8 in packet mode.
TEST_CASE("raw_lapi_transfers_take_what_lapi_takes") {
  for (const std::string op : {"put", "get"}) {
    CAPTURE(op);
    CHECK(metric(attempt({&make_ping_pong, op}), "latency") == doctest::Approx(4260).epsilon(0.005));
  }
  CHECK(metric(attempt({&make_ping_pong, "put"}, false), "latency") == doctest::Approx(2420.8).epsilon(0.01));
}

}  // namespace
}  // namespace gasmeter::networks::lapi::raw::raw_test
