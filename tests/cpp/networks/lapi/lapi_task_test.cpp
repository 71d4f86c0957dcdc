// LAPI tasks. tests/golden/lapi.md derives the golden times.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "gasmeter/base/error.hpp"
#include "networks/lapi/world.hpp"
#include "support/pattern.hpp"

namespace gasmeter::networks::lapi::lapi_task_test {
namespace {

using namespace testing;
using gasmeter::testing::has_pattern;
using gasmeter::testing::is_filled;
using gasmeter::testing::write_pattern;

struct Arrived {
  SimTime at;
  SimTime sent;
  unsigned handlers = 0;
};

// Send a message with 16 B of user header and `bytes` of data from rank 0 to rank 1, which waits.
Arrived amsend(World& world, Bytes bytes, bool by_handler = false) {
  write_pattern(world.at(0), 16 + bytes, 1);
  Lander lander(world.at(1, 64), by_handler);
  world.task(1).on_header(lander);
  Arrived arrived;
  world.engine.start(Rank{0}, [&] {
    CHECK(world.task(0).reserve(Rank{1}, world.task(0).packets_of(16, bytes)));
    world.task(0).amsend(Rank{1}, {world.at(0), 16}, {world.at(0, 16), bytes});
    arrived.sent = world.host(0).now();
  });
  world.engine.start(Rank{1}, [&] {
    const Event event = wait_for_event(world.task(1), world.host(1));
    arrived.at = world.host(1).now();
    CHECK(event.type == Event::Type::message);
    CHECK(event.peer == Rank{0});
    CHECK(event.counter == bytes);
    CHECK(lander.source == Rank{0});
    CHECK(has_pattern(lander.header.data(), 16, 1));
  });
  world.engine.run();
  arrived.handlers = lander.calls;
  std::vector<std::byte> all(16 + bytes);
  std::copy(lander.header.begin(), lander.header.end(), all.begin());
  std::copy(world.at(1, 64), world.at(1, 64 + bytes), all.begin() + 16);
  CHECK(has_pattern(all.data(), all.size(), 1));
  return arrived;
}

TEST_CASE("lapi_message_of_eight_bytes") {
  for (const bool strict : {false, true}) {
    World world({.strict = strict});
    const Arrived arrived = amsend(world, 8);
    CHECK(arrived.sent.ps == 82'400);
    CHECK(arrived.at.ps == 1'360'800);
  }
}

TEST_CASE("lapi_header_handler_runs_once_and_a_completion_handler_comes_dear") {
  World world;
  const Arrived arrived = amsend(world, 2500);
  CHECK(arrived.at.ps == 5'980'000);
  CHECK(arrived.handlers == 1);
  World dear;
  CHECK(amsend(dear, 8, true).at.ps == 5'360'800);
}

TEST_CASE("lapi_put_and_get_in_packet_mode_take_both_processors") {
  for (const bool is_get : {false, true}) {
    CAPTURE(is_get);
    World world;
    write_pattern(world.at(is_get ? 1 : 0), 8, 2);
    SimTime end;
    world.engine.start(Rank{0}, [&] {
      LapiTask& task = world.task(0);
      CHECK((is_get ? task.get(Rank{1}, world.at(0, 32), world.at(1), 8, 7)
                    : task.put(Rank{1}, world.at(1, 32), world.at(0), 8, 7, 9)) == Status::ok);
      CHECK(world.host(0).now().ps == (is_get ? 60'000 : 70'800));
      const Event done = wait_for_event(task, world.host(0));
      CHECK(done.type == Event::Type::completion);
      CHECK(done.counter == 7);
      end = world.host(0).now();
      CHECK(has_pattern(world.at(is_get ? 0 : 1, 32), 8, 2));
    });
    world.engine.start(Rank{1}, [&] {
      if (is_get) return sleep_until(world.host(1), SimTime{1'085'000}), (void)world.task(1).probe();
      const Event event = wait_for_event(world.task(1), world.host(1));
      CHECK(event.type == Event::Type::target);
      CHECK(event.counter == 9);
      CHECK(world.host(1).now().ps == 1'270'800);
    });
    world.engine.run();
    CHECK(end.ps == 2'420'800);
    CHECK(is_filled(world.at(is_get ? 0 : 1, 40), 64, 0));
  }
}

// Rank 1 runs no software that would poll.
TEST_CASE("lapi_put_and_get_in_rdma_mode_are_the_adapters_alone") {
  for (const bool is_get : {false, true}) {
    CAPTURE(is_get);
    World world;
    write_pattern(world.at(is_get ? 1 : 0), 8, 3);
    world.engine.start(Rank{0}, [&] {
      LapiTask& task = world.task(0);
      CHECK((is_get ? task.rdma_get(Rank{1}, world.at(0, 32), world.at(1), 8, 7)
                    : task.rdma_put(Rank{1}, world.at(1, 32), world.at(0), 8, 7)) == Status::ok);
      CHECK(world.host(0).now().ps == 60'000);
      const Event done = wait_for_event(task, world.host(0));
      CHECK(done.type == Event::Type::completion);
      CHECK(done.counter == 7);
      CHECK(world.host(0).now().ps == 4'260'000);
    });
    if (!is_get) {
      world.engine.start(Rank{1}, [&] {
        world.host(1).idle(kNever);
        CHECK(world.host(1).now().ps == 3'110'000);
        CHECK(has_pattern(world.at(1, 32), 8, 3));
        CHECK_FALSE(world.task(1).probe());
      });
    }
    world.engine.run();
    CHECK(has_pattern(world.at(is_get ? 0 : 1, 32), 8, 3));
    CHECK(is_filled(world.at(is_get ? 0 : 1, 40), 64, 0));
  }
}

// The send FIFO has more room. The window belongs to the pair.
TEST_CASE("lapi_window_opens_as_packets_are_taken") {
  World world;
  Lander lander(nullptr);
  world.task(1).on_header(lander);
  world.engine.start(Rank{0}, [&] {
    LapiTask& task = world.task(0);
    unsigned sent = 0;
    for (; task.reserve(Rank{1}, 1); ++sent) task.amsend(Rank{1}, {world.at(0), 4}, {});
    CHECK(sent == 32);
    CHECK(task.reserve(Rank{0}, 1));
    task.give_back(Rank{0}, 1);
    while (!task.probe()) world.host(0).idle(kNever);
    CHECK_FALSE(task.reserve(Rank{1}, 9));
    CHECK(task.reserve(Rank{1}, 8));
    task.give_back(Rank{1}, 8);
  });
  world.engine.start(Rank{1}, [&] {
    sleep_until(world.host(1), SimTime{50'000'000});
    for (unsigned i = 0; i < 8; ++i) CHECK(world.task(1).probe());
    CHECK(world.task(1).counters().acknowledgements == 1);
  });
  world.engine.run();
}

TEST_CASE("lapi_refuses_what_it_cannot_reach") {
  World world({}, {.handle = 4096, .rdma = 2});
  LapiTask& task = world.task(0);
  std::vector<std::byte> elsewhere(64);
  CHECK_THROWS_AS((void)task.rdma_put(Rank{1}, world.at(1), elsewhere.data(), 8, 1), UsageError);
  CHECK_THROWS_AS((void)task.rdma_put(Rank{1}, world.at(1), world.at(0), 4097, 1), UsageError);
  CHECK_THROWS_AS((void)task.get(Rank{2}, world.at(0), world.at(1), 8, 1), UsageError);
  world.engine.start(Rank{0}, [&] {
    CHECK(task.rdma_get(Rank{1}, world.at(0), world.at(1), 4096, 1) == Status::ok);
    CHECK(task.rdma_get(Rank{1}, world.at(0), world.at(1), 8, 2) == Status::ok);
    const SimTime before = world.host(0).now();
    CHECK(task.rdma_get(Rank{1}, world.at(0), world.at(1), 8, 3) == Status::no_resource);
    CHECK(world.host(0).now() == before);
    for (unsigned i = 0; i < 2; ++i) (void)wait_for_event(task, world.host(0));
    CHECK(task.may_transfer());
    (void)task.rdma_get(Rank{1}, world.at(0), elsewhere.data(), 8, 3);
    (void)wait_for_event(task, world.host(0));
  });
  CHECK_THROWS_WITH_AS(world.engine.run(), doctest::Contains("that rank 1 has not registered"), UsageError);
}

// Both senders share the adapter, and pass it one after the other.
TEST_CASE("lapi_ranks_of_a_node_share_its_adapter") {
  const auto last = [](unsigned senders) {
    World world({.ranks = 4, .node_of = {0, 0, 1, 1}}, {}, Progress::poll, 65536);
    SimTime end;
    for (unsigned rank = 0; rank < senders; ++rank) {
      world.engine.start(Rank{rank}, [&world, &end, rank] {
        CHECK(world.task(rank).rdma_put(Rank{rank + 2}, world.at(rank + 2), world.at(rank), 65536, 1) == Status::ok);
        (void)wait_for_event(world.task(rank), world.host(rank));
        end = std::max(end, world.host(rank).now());
      });
    }
    world.engine.run();
    return end;
  };
  const double alone = static_cast<double>(last(1).ps);
  CHECK(static_cast<double>(last(2).ps) > 1.8 * alone);
}

}  // namespace
}  // namespace gasmeter::networks::lapi::lapi_task_test
