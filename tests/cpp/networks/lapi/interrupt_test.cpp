// Arrivals at a task that computes. tests/golden/lapi.md derives the times.
#include <doctest/doctest.h>

#include "networks/lapi/world.hpp"

namespace gasmeter::networks::lapi::interrupt_test {
namespace {

using namespace testing;

// Rank 1 computes for 10000, and handles arrivals meanwhile if `progress` says so. Rank 0 sends `messages` messages.
SimTime computed(Progress progress, unsigned messages, std::uint64_t& interrupts, bool strict = false) {
  World world({.strict = strict}, {}, progress);
  Lander lander(world.at(1));
  world.task(1).on_header(lander);
  world.engine.start(Rank{0}, [&] {
    for (unsigned i = 0; i < messages; ++i) {
      CHECK(world.task(0).reserve(Rank{1}, 1));
      world.task(0).amsend(Rank{1}, {world.at(0), 16}, {world.at(0), 8});
    }
  });
  world.engine.start(Rank{1}, [&] {
    sim::ModelHost host = world.host(1);
    SimTime left{10'000'000};
    while (left.ps != 0) {
      left = host.work(left, progress == Progress::interrupt);
      while (left.ps != 0 && world.task(1).probe()) {
      }
    }
  });
  world.engine.run();
  interrupts = world.task(1).counters().interrupts;
  return world.host(1).now();
}

TEST_CASE("lapi_arrival_interrupts_who_computes_and_only_where_it_is_told") {
  std::uint64_t interrupts = 0;
  for (const bool strict : {false, true}) {
    CHECK(computed(Progress::interrupt, 1, interrupts, strict).ps == 13'180'800);
    CHECK(interrupts == 1);
    CHECK(computed(Progress::poll, 1, interrupts, strict).ps == 10'000'000);
    CHECK(interrupts == 0);
  }
}

// The core handles messages that arrive before it polls together with the first one.
TEST_CASE("lapi_arrivals_close_together_share_an_interrupt") {
  std::uint64_t interrupts = 0;
  CHECK(computed(Progress::interrupt, 3, interrupts).ps == 10'000'000 + 3'000'000 + 3 * 180'800);
  CHECK(interrupts == 1);
}

TEST_CASE("lapi_who_waits_takes_no_interrupt") {
  World world({}, {}, Progress::interrupt);
  Lander lander(world.at(1));
  world.task(1).on_header(lander);
  world.engine.start(Rank{0}, [&] {
    CHECK(world.task(0).reserve(Rank{1}, 1));
    world.task(0).amsend(Rank{1}, {world.at(0), 16}, {world.at(0), 8});
  });
  world.engine.start(Rank{1}, [&] {
    (void)wait_for_event(world.task(1), world.host(1));
    CHECK(world.host(1).now().ps == 1'360'800);
  });
  world.engine.run();
  CHECK(world.task(1).counters().interrupts == 0);
}

}  // namespace
}  // namespace gasmeter::networks::lapi::interrupt_test
