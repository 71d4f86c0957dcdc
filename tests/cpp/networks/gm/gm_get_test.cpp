// Gets by the cards. tests/golden/gm.md derives the golden times.
#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "gasmeter/base/error.hpp"
#include "networks/gm/world.hpp"
#include "support/effort.hpp"
#include "support/pattern.hpp"

namespace gasmeter::networks::gm::gm_get_test {
namespace {

using namespace testing;
using gasmeter::testing::has_pattern;
using gasmeter::testing::is_filled;
using gasmeter::testing::rounds;
using gasmeter::testing::write_pattern;

const GmParameters kWithGets{.gets = true};

Status get(World& world, unsigned by, unsigned from, Bytes to, Bytes at, Bytes bytes, std::uint64_t id = 0) {
  return world.port(by).get(Rank{from}, world.at(by, to), world.at(from, at), bytes, Priority::low, id);
}

TEST_CASE("gm_get_of_eight_bytes") {
  World world({}, kWithGets);
  write_pattern(world.at(1, 32), 8, 1);
  world.engine.start(Rank{0}, [&] {
    CHECK(get(world, 0, 1, 64, 32, 8, 7) == Status::ok);
    CHECK(world.host(0).now().ps == 102'000);
    CHECK(world.port(0).send_tokens() == 15);
    const Event got = wait_for_event(world.port(0), world.host(0));
    CHECK(world.host(0).now().ps == 1'792'000);
    CHECK(got.type == Event::Type::got);
    CHECK(got.id == 7);
    CHECK(got.peer == Rank{1});
    CHECK(got.bytes == 8);
    CHECK(world.port(0).send_tokens() == 16);
    CHECK(has_pattern(world.at(0, 64), 8, 1));
  });
  // The target's software has no part in the get.
  world.engine.start(Rank{1}, [&] {
    sleep_until(world.host(1), {5'000'000});
    CHECK_FALSE(world.port(1).poll());
  });
  world.engine.run();
  CHECK(is_filled(world.at(0), 64, 0));
  CHECK(is_filled(world.at(0, 72), 64, 0));
}

TEST_CASE("gm_get_of_three_packets") {
  World world({}, kWithGets);
  write_pattern(world.at(1), 600, 2);
  world.engine.start(Rank{0}, [&] {
    CHECK(get(world, 0, 1, 8, 0, 600) == Status::ok);
    CHECK(wait_for_event(world.port(0), world.host(0)).bytes == 600);
    CHECK(world.host(0).now().ps == 2'982'000);
    CHECK(has_pattern(world.at(0, 8), 600, 2));
  });
  world.engine.start(Rank{1}, [] {});
  world.engine.run();
  CHECK(is_filled(world.at(0, 608), 100, 0));
}

// The ranks of a node share one card, and so do the ranks that they read from.
TEST_CASE("gm_four_ranks_of_a_node_queue_for_its_card") {
  World world({.ranks = 8, .node_of = {0, 0, 0, 0, 1, 1, 1, 1}}, kWithGets);
  constexpr std::int64_t kTaken[] = {1'792'000, 2'292'000, 2'792'000, 3'292'000};
  for (unsigned rank = 0; rank < 4; ++rank) {
    world.engine.start(Rank{rank}, [&, rank] {
      CHECK(get(world, rank, rank + 4, 0, 0, 8) == Status::ok);
      CHECK(world.host(rank).now().ps == 102'000);
      (void)wait_for_event(world.port(rank), world.host(rank));
      CHECK(world.host(rank).now().ps == kTaken[rank]);
    });
    world.engine.start(Rank{rank + 4}, [] {});
  }
  world.engine.run();
}

// Each rank and each target has a node of its own: the times are those of a single get.
TEST_CASE("gm_ranks_of_other_nodes_do_not_queue") {
  World world({.ranks = 8, .topology = "crossbar:8"}, kWithGets);
  for (unsigned rank = 0; rank < 4; ++rank) {
    world.engine.start(Rank{rank}, [&, rank] {
      CHECK(get(world, rank, rank + 4, 0, 0, 8) == Status::ok);
      (void)wait_for_event(world.port(rank), world.host(rank));
      CHECK(world.host(rank).now().ps == 1'792'000);
    });
    world.engine.start(Rank{rank + 4}, [] {});
  }
  world.engine.run();
}

// The data of long gets and a connection's own sends take turns. Neither waits for the end of the other.
TEST_CASE("gm_gets_and_sends_of_a_connection_take_turns") {
  World world({}, kWithGets, 1U << 17U);
  SimTime got;
  SimTime sent;
  world.engine.start(Rank{0}, [&] {
    CHECK(get(world, 0, 1, 0, 0, 1U << 16U) == Status::ok);
    (void)wait_for_event(world.port(0), world.host(0));
    got = world.host(0).now();
  });
  world.engine.start(Rank{1}, [&] {
    CHECK(world.port(1).directed_send(Rank{0}, world.at(0, 1U << 16U), world.at(1), 1U << 15U, Priority::low, 0) ==
          Status::ok);
    (void)wait_for_event(world.port(1), world.host(1));
    sent = world.host(1).now();
  });
  world.engine.run();
  CHECK(sent < got);
  CHECK(sent.ps > got.ps / 2);  // alone it would take a quarter of the time of both
}

// A send behind a get may end before it: its acknowledgement does not wait for the data.
TEST_CASE("gm_what_follows_a_get_may_end_before_it") {
  World world({}, kWithGets, 1U << 17U);
  write_pattern(world.at(1), 60'000, 3);
  std::vector<std::uint64_t> ended;
  world.engine.start(Rank{0}, [&] {
    CHECK(get(world, 0, 1, 0, 0, 60'000, 0) == Status::ok);
    for (std::uint64_t i = 1; i < 4; ++i) {
      CHECK(world.port(0).directed_send(Rank{1}, world.at(1, 1U << 16U), world.at(0, 1U << 16U), 8, Priority::low, i) ==
            Status::ok);
    }
    CHECK(get(world, 0, 1, 1U << 16U, 0, 8, 4) == Status::ok);
    for (int i = 0; i < 5; ++i) ended.push_back(wait_for_event(world.port(0), world.host(0)).id);
    CHECK(world.port(0).send_tokens() == 16);
    CHECK(has_pattern(world.at(0), 60'000, 3));
    // The connection continues.
    CHECK(get(world, 0, 1, 0, 0, 8, 5) == Status::ok);
    CHECK(wait_for_event(world.port(0), world.host(0)).id == 5);
  });
  world.engine.start(Rank{1}, [] {});
  world.engine.run();
  CHECK((ended == std::vector<std::uint64_t>{1, 2, 3, 0, 4}));
}

// Held messages hold up the gets behind them, and each get runs once.
TEST_CASE("gm_gets_keep_their_place_behind_held_messages") {
  World world({}, kWithGets);
  world.engine.start(Rank{0}, [&] {
    CHECK(world.send(0, 1, 0, 8, Priority::low, 0) == Status::ok);
    CHECK(get(world, 0, 1, 64, 64, 300, 1) == Status::ok);
    for (std::uint64_t i = 0; i < 2; ++i) CHECK(wait_for_event(world.port(0), world.host(0)).id == i);
    CHECK(has_pattern(world.at(0, 64), 300, 4));
  });
  world.engine.start(Rank{1}, [&] {
    sleep_until(world.host(1), {2'000'000});
    write_pattern(world.at(1, 64), 300, 4);
    CHECK(world.port(1).provide_receive(world.receive_at(1, 0, 4)) == Status::ok);
    (void)wait_for_event(world.port(1), world.host(1));
  });
  world.engine.run();
  CHECK(world.port(1).counters().no_receive == 1);
  CHECK(world.port(1).counters().out_of_order == 1);
}

// Ranks make gets of any size from any rank, beside directed sends into other memory. Each get brings the bytes that
// the memory holds.
std::vector<std::int64_t> random_gets(Shape shape, std::uint64_t seed) {
  constexpr Bytes kPart = 4096;  // for each peer; the first part belongs to the rank itself, and no rank writes it
  shape.ranks = 5;
  shape.topology = "fat-tree:2x2";
  shape.node_of = {0, 1, 1, 2, 3};
  World world(shape, {.gets = true, .send_tokens = 6}, 12 * kPart);
  std::vector<std::int64_t> clocks(shape.ranks);
  for (unsigned rank = 0; rank < shape.ranks; ++rank) write_pattern(world.at(rank), kPart, seed + rank);
  for (unsigned rank = 0; rank < shape.ranks; ++rank) {
    world.engine.start(Rank{rank}, [&, rank] {
      GmPort& port = world.port(rank);
      std::mt19937_64 random(seed + rank);
      for (int round = 0; round < 30; ++round) {
        unsigned under_way = 0;
        std::vector<Bytes> sizes;
        std::vector<unsigned> peers;
        while (port.send_tokens() != 0) {
          const auto peer = static_cast<unsigned>(random() % shape.ranks);
          const Bytes bytes = random() % 4 == 0 ? random() % kPart : random() % 64;
          if (random() % 3 == 0) {
            CHECK(port.directed_send(Rank{peer}, world.at(peer, 11 * kPart), world.at(rank), bytes, Priority::low,
                                     99) == Status::ok);
          } else {
            CHECK(get(world, rank, peer, (1 + sizes.size()) * kPart, 0, bytes, sizes.size()) == Status::ok);
            sizes.push_back(bytes);
            peers.push_back(peer);
          }
          ++under_way;
        }
        for (; under_way != 0; --under_way) {
          const Event event = wait_for_event(port, world.host(rank));
          if (event.type == Event::Type::sent) continue;
          CHECK(event.type == Event::Type::got);
          CHECK(event.bytes == sizes[event.id]);
          CHECK(std::equal(world.at(rank, (1 + event.id) * kPart), world.at(rank, (1 + event.id) * kPart) + event.bytes,
                           world.at(peers[event.id])));
        }
        CHECK(port.send_tokens() == 6);
      }
      clocks[rank] = world.host(rank).now().ps;
    });
  }
  world.engine.run();
  return clocks;
}

TEST_CASE("gm_random_gets_bring_what_is_there") {
  for (std::uint64_t seed = 1; seed <= rounds(6); ++seed) {
    CAPTURE(seed);
    const std::vector<std::int64_t> lazy = random_gets({}, seed);
    CHECK(lazy == random_gets({.strict = true}, seed));
    CHECK(lazy == random_gets({.threads = 2}, seed));
  }
}

std::string failure_of(const GmParameters& parameters, const std::function<void(World&)>& act) {
  World world({}, parameters);
  world.engine.start(Rank{0}, [&] {
    act(world);
    sleep_until(world.host(0), {30'000'000});
  });
  world.engine.start(Rank{1}, [&] { sleep_until(world.host(1), {30'000'000}); });
  try {
    world.engine.run();
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST_CASE("gm_misuse_of_gets_is_named") {
  static std::vector<std::byte> elsewhere(64);
  CHECK(failure_of({}, [](World& world) { (void)get(world, 0, 1, 0, 0, 8); }) ==
        "gm: rank 0 asks for a get, which GM 1 does not have; it needs port.gm_version 2");
  CHECK(failure_of(kWithGets, [](World& world) {
          (void)world.port(0).get(Rank{1}, elsewhere.data(), world.at(1), 64, Priority::low, 0);
        }) == "gm: rank 0's get of 64 bytes reaches memory that rank 0 has not registered");
  CHECK(failure_of(kWithGets, [](World& world) {
          (void)world.port(0).get(Rank{1}, world.at(0), elsewhere.data(), 64, Priority::low, 0);
        }) == "gm: rank 0's get of 64 bytes reaches memory that rank 1 has not registered");
  CHECK(failure_of(kWithGets, [](World& world) {
          (void)world.port(0).get(Rank{1}, world.at(0), nullptr, 8, Priority::low, 0);
        }) == "gm: rank 0's get of 8 bytes; at most 2147483640 to an address are allowed");
  CHECK(failure_of(kWithGets, [](World& world) { (void)get(world, 0, 1, 0, 0, 0); }).empty());
}

}  // namespace
}  // namespace gasmeter::networks::gm::gm_get_test
