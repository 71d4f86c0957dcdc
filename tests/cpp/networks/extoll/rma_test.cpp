// RMA units. tests/golden/extoll.md derives the golden times.
#include <doctest/doctest.h>

#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "gasmeter/base/error.hpp"
#include "gasmeter/base/random.hpp"
#include "support/pattern.hpp"
#include "world.hpp"

namespace gasmeter::networks::extoll::rma_test {
namespace {

using namespace testing;
using gasmeter::testing::has_pattern;
using gasmeter::testing::is_filled;
using gasmeter::testing::write_pattern;
using Kind = Notification::Kind;

// Memory of each rank, registered at no price.
struct RmaWorld : World {
  explicit RmaWorld(const Shape& shape = {}, Bytes bytes = 4096, const ExtollParameters& parameters = {})
      : World(shape, parameters), memory(shape.ranks, std::vector<std::byte>(bytes)) {
    for (unsigned rank = 0; rank < shape.ranks; ++rank) port(rank).register_memory(memory[rank]);
  }
  std::byte* at(unsigned rank, Bytes offset = 0) { return memory[rank].data() + offset; }
  std::vector<std::vector<std::byte>> memory;
};

// A unit's path into the router is as wide as a link.
TEST_CASE("packets_of_a_unit_follow_one_another_whichever_links_they_take") {
  RmaWorld world({.ranks = 3, .topology = "mesh2d:3x1"});
  world.engine.start(Rank{1}, [&] {
    for (unsigned to : {0U, 2U}) {
      CHECK(world.port(1).rma_put(Rank{to}, world.at(to), world.at(1), 256, Notify::completer) == Status::ok);
    }
  });
  for (unsigned rank : {0U, 2U}) {
    world.engine.start(Rank{rank}, [&, rank] {
      (void)wait_for_notification(world.port(rank), world.host(rank));
      CHECK(world.host(rank).now().ps == (rank == 0 ? 1'980'000 : 2'500'000));
    });
  }
  world.engine.run();
}

// The path from the router to the units is as wide as a link, too. The completer is therefore busy with n bytes at
// least as long as a link.
TEST_CASE("packets_from_two_links_come_into_the_card_one_after_the_other") {
  RmaWorld world({.ranks = 3, .topology = "mesh2d:3x1"});
  for (unsigned from : {0U, 2U}) {
    world.engine.start(Rank{from}, [&, from] {
      CHECK(world.port(from).rma_put(Rank{1}, world.at(1, 256 * from), world.at(from), 256, Notify::completer) ==
            Status::ok);
    });
  }
  world.engine.start(Rank{1}, [&] {
    std::vector<std::int64_t> read;
    for (int i = 0; i < 2; ++i) {
      (void)wait_for_notification(world.port(1), world.host(1));
      read.push_back(world.host(1).now().ps / 1000);
    }
    CHECK((read == std::vector<std::int64_t>{1980, 2530}));
  });
  world.engine.run();
}

// Traffic goes straight through, from every neighbour to the opposite one.
TEST_CASE("a_router_passes_what_six_links_bring_at_their_speed") {
  constexpr unsigned kPackets = 256;
  constexpr Bytes kBytes = kPackets * 256;
  constexpr unsigned kCentre = 13;
  RmaWorld world({.ranks = 27, .topology = "mesh3d:3x3x3"}, 2 * kBytes);
  const std::array<unsigned, 6> around{4, 10, 12, 14, 16, 22};
  std::vector<std::int64_t> ends;
  for (unsigned from : around) {
    world.engine.start(Rank{from}, [&, from] {
      const unsigned to = 2 * kCentre - from;
      CHECK(world.port(from).rma_put(Rank{to}, world.at(to, kBytes), world.at(from), kBytes, Notify::completer) ==
            Status::ok);
      (void)wait_for_notification(world.port(from), world.host(from));
      ends.push_back(world.host(from).now().ps);
    });
  }
  world.engine.run();
  const std::int64_t first_byte = 820'000;
  const std::int64_t behind_the_last = 2 * 300'000 + 200'000 + 16'000 + 100'000;  // and a missed poll
  for (const std::int64_t end : ends) {
    CHECK(end >= first_byte + kPackets * 544'000 + behind_the_last);
    CHECK(end < first_byte + kPackets * 544'000 + behind_the_last + 20'000);
  }
}

TEST_CASE("put_of_eight_bytes_with_its_notifications") {
  RmaWorld world;
  write_pattern(world.at(0, 16), 8, 1);
  world.engine.start(Rank{0}, [&] {
    CHECK(world.port(0).rma_put(Rank{1}, world.at(1, 32), world.at(0, 16), 8, Notify::requester | Notify::completer) ==
          Status::ok);
    CHECK(world.host(0).now().ps == 64'000);
    const Notification local = wait_for_notification(world.port(0), world.host(0));
    CHECK((local == Notification{Kind::requester, 0, Rank{1}, 8, world.at(0, 16)}));
    CHECK(world.host(0).now().ps == 694'000);
  });
  world.engine.start(Rank{1}, [&] {
    sim::ModelHost host = world.host(1);
    host.idle(kNever);  // the data wake the rank, too
    CHECK(host.now().ps == 1'120'000);
    CHECK(has_pattern(world.at(1, 32), 8, 1));
    const Notification notification = wait_for_notification(world.port(1), host);
    CHECK((notification == Notification{Kind::completer, 0, Rank{0}, 8, world.at(1, 32)}));
    CHECK(host.now().ps == 1'240'000);
  });
  world.engine.run();
  CHECK(is_filled(world.at(1), 32, 0));
  CHECK(is_filled(world.at(1, 40), 64, 0));
}

// The first RMA packet reaches a card whose rank has run ahead. Up to the least time that an RMA packet takes in the
// card, the rank need not look. Beyond that time it waits.
TEST_CASE("who_runs_ahead_of_a_card_that_has_met_no_rma_waits_where_some_may_have_been_done") {
  RmaWorld world({}, 4096, {.completer = {5'000'000}});
  world.engine.start(Rank{0}, [&] {
    CHECK(world.port(0).rma_put(Rank{1}, world.at(1), world.at(0), 8, Notify::completer) == Status::ok);
  });
  world.engine.start(Rank{1}, [&] {
    sim::ModelHost host = world.host(1);
    host.spend({199'000});  // requester and responder take 200 ns, as does the receive engine
    world.port(1).await_rma();
    CHECK(host.seen_until().ps == 0);
    host.spend({10'000'000});
    world.port(1).await_rma();
    CHECK(host.seen_until() == host.now());
    CHECK(world.port(1).has_notification());
    host.spend({1'000});
    world.port(1).await_rma();  // the card has met RMA
    CHECK(host.seen_until() == host.now());
  });
  world.engine.run();
}

TEST_CASE("get_of_eight_bytes_with_its_notifications") {
  RmaWorld world;
  write_pattern(world.at(1, 32), 8, 2);
  world.engine.start(Rank{0}, [&] {
    sim::ModelHost host = world.host(0);
    CHECK(world.port(0).rma_get(Rank{1}, world.at(0, 16), world.at(1, 32), 8, Notify::all) == Status::ok);
    CHECK(host.now().ps == 64'000);
    const Notification left = wait_for_notification(world.port(0), host);
    CHECK((left == Notification{Kind::requester, 0, Rank{1}, 8, world.at(0, 16)}));
    CHECK(host.now().ps == 384'000);
    const Notification notification = wait_for_notification(world.port(0), host);
    CHECK((notification == Notification{Kind::completer, 0, Rank{1}, 8, world.at(0, 16)}));
    CHECK(host.now().ps == 1'824'000);
    CHECK(has_pattern(world.at(0, 16), 8, 2));
  });
  world.engine.start(Rank{1}, [&] {
    const Notification served = wait_for_notification(world.port(1), world.host(1));
    CHECK((served == Notification{Kind::responder, 0, Rank{0}, 8, world.at(1, 32)}));
    CHECK(world.host(1).now().ps == 1'270'000);
  });
  world.engine.run();
}

TEST_CASE("put_of_a_thousand_bytes_travels_in_four_packets") {
  RmaWorld world;
  write_pattern(world.at(0), 1000, 3);
  std::vector<std::int64_t> pieces;
  world.engine.start(Rank{0}, [&] {
    CHECK(world.port(0).rma_put(Rank{1}, world.at(1, 8), world.at(0), 1000, Notify::all) == Status::ok);
    CHECK(wait_for_notification(world.port(0), world.host(0)).kind == Kind::requester);
    CHECK(world.host(0).now().ps == 1'684'000);
    std::memset(world.at(0), 0, 1000);  // the card has read it
  });
  world.engine.start(Rank{1}, [&] {
    sim::ModelHost host = world.host(1);
    for (int i = 0; i < 4; ++i) {
      host.idle(kNever);
      pieces.push_back(host.now().ps / 1000);
    }
    const Notification notification = wait_for_notification(world.port(1), host);
    CHECK((notification == Notification{Kind::completer, 0, Rank{0}, 1000, world.at(1, 8)}));
    CHECK(host.now().ps == 3'570'000);
    CHECK(has_pattern(world.at(1, 8), 1000, 3));
  });
  world.engine.run();
  CHECK((pieces == std::vector<std::int64_t>{1870, 2410, 2960, 3450}));
  CHECK(is_filled(world.at(1, 1008), 100, 0));
}

TEST_CASE("put_of_nothing_notifies") {
  RmaWorld world;
  world.engine.start(Rank{0}, [&] {
    CHECK(world.port(0).rma_put(Rank{1}, world.at(1), world.at(0), 0, Notify::completer) == Status::ok);
  });
  world.engine.start(Rank{1}, [&] {
    CHECK((wait_for_notification(world.port(1), world.host(1)) ==
           Notification{Kind::completer, 0, Rank{0}, 0, world.at(1)}));
  });
  world.engine.run();
}

TEST_CASE("memory_that_is_not_registered_is_refused_on_either_side") {
  const auto attempt = [](auto&& act) {
    RmaWorld world;
    world.engine.start(Rank{0}, [&] {
      act(world);
      sleep_until(world.host(0), {10'000'000});
    });
    try {
      world.engine.run();
    } catch (const UsageError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  std::array<std::byte, 16> own{};
  CHECK(attempt([&](RmaWorld& world) { (void)world.port(0).rma_put(Rank{1}, world.at(1), own.data(), 8, {}); }) ==
        "extoll: rank 0's put of 8 bytes reaches memory that rank 0 has not registered");
  CHECK(attempt([&](RmaWorld& world) { (void)world.port(0).rma_get(Rank{1}, own.data(), world.at(1), 8, {}); }) ==
        "extoll: rank 0's get of 8 bytes reaches memory that rank 0 has not registered");
  CHECK(attempt([&](RmaWorld& world) {
          (void)world.port(0).rma_put(Rank{1}, world.at(1, 4090), world.at(0), 8, {});
        }) == "extoll: rank 0's transfer of 8 bytes reaches memory that rank 1 has not registered");
  CHECK(attempt([&](RmaWorld& world) {
          (void)world.port(0).rma_get(Rank{1}, world.at(0), world.at(1, 4090), 8, {});
        }) == "extoll: rank 0's get of 8 bytes reaches memory that rank 1 has not registered");
  CHECK(attempt([&](RmaWorld& world) { (void)world.port(0).rma_put(Rank{2}, world.at(1), world.at(0), 8, {}); }) ==
        "extoll: rank 2 does not exist; there are 2");
  CHECK(attempt([&](RmaWorld& world) {
          (void)world.port(0).rma_put(Rank{1}, world.at(1, 4088), world.at(0), 8, {});
        }).empty());
}

TEST_CASE("registration_costs_by_the_page") {
  sim::EngineOptions options = World::options({});
  options.prices[conduit::SharedPrice::registration] = {{1'000'000}, 100'000};
  sim::Engine engine(options);
  ExtollNetwork network(engine, sim::Topology::parse("mesh2d:2x1"));
  std::vector<std::byte> memory(5000);
  engine.start(Rank{0}, [&] {
    network.port(Rank{0}).register_memory(memory);
    CHECK(engine.host(Rank{0}).now().ps == 1'000'000 + 819'200);
  });
  engine.run();
}

TEST_CASE("commands_are_refused_when_the_card_is_full_and_the_rank_is_woken") {
  RmaWorld world({}, 4096, {.requester = {10'000'000}});
  world.engine.start(Rank{0}, [&] {
    sim::ModelHost host = world.host(0);
    unsigned taken = 0;
    while (world.port(0).rma_put(Rank{1}, world.at(1), world.at(0), 8, Notify::none) == Status::ok) ++taken;
    CHECK(taken == ExtollPort::kRmaCommands);
    host.idle(kNever);
    CHECK(host.now().ps >= 10'000'000);
    CHECK(world.port(0).rma_put(Rank{1}, world.at(1), world.at(0), 8, Notify::none) == Status::ok);
  });
  world.engine.run();
}

TEST_CASE("notifications_that_find_no_slot_come_later") {
  RmaWorld world({}, 4096, {.notification_slots = 4});
  world.engine.start(Rank{0}, [&] {
    for (unsigned i = 0; i < 10; ++i) {
      while (world.port(0).rma_put(Rank{1}, world.at(1, 8 * i), world.at(0), 8, Notify::completer) != Status::ok) {
        world.host(0).idle(kNever);
      }
    }
  });
  world.engine.start(Rank{1}, [&] {
    sleep_until(world.host(1), {50'000'000});
    for (unsigned i = 0; i < 10; ++i) {
      CHECK(wait_for_notification(world.port(1), world.host(1)).address == world.at(1, 8 * i));
    }
    CHECK_FALSE(world.port(1).notification_next());
  });
  world.engine.run();
  CHECK(world.port(1).counters().notifications == 10);
  CHECK(world.port(1).counters().held_back == 6);
}

TEST_CASE("a_long_put_leaves_the_link_to_small_packets_in_between") {
  RmaWorld world({.ranks = 4}, 64 * 1024);
  std::int64_t taken = 0;
  world.engine.start(Rank{0}, [&] {
    CHECK(world.port(0).rma_put(Rank{2}, world.at(2), world.at(0), 64 * 1024, Notify::completer) == Status::ok);
  });
  world.engine.start(Rank{1}, [&] {
    sleep_until(world.host(1), {20'000'000});
    send(world.port(1), world.host(1), 3, std::span(world.memory[1]).first(8));
  });
  world.engine.start(Rank{2}, [&] { (void)wait_for_notification(world.port(2), world.host(2)); });
  world.engine.start(Rank{3}, [&] {
    (void)wait_for_packet(world.port(3), world.host(3));
    taken = world.host(3).now().ps;
  });
  world.engine.run();
  // A transfer takes 920 ns undisturbed. At each end, at most the packet on the link and two behind it are in the way.
  CHECK(taken >= 20'920'000);
  CHECK(taken < 20'920'000 + 4 * 544'000);
}

TEST_CASE("a_long_transfer_runs_at_the_speed_of_the_link") {
  constexpr Bytes kSize = 256 * 1000;
  for (const bool is_put : {true, false}) {
    RmaWorld world({}, kSize);
    std::int64_t end = 0;
    write_pattern(world.at(is_put ? 0 : 1), kSize, 5);
    world.engine.start(Rank{0}, [&] {
      if (is_put) {
        (void)world.port(0).rma_put(Rank{1}, world.at(1), world.at(0), kSize, Notify::completer);
      } else {
        (void)world.port(0).rma_get(Rank{1}, world.at(0), world.at(1), kSize, Notify::completer);
        (void)wait_for_notification(world.port(0), world.host(0));
        end = world.host(0).now().ps;
      }
    });
    world.engine.start(Rank{1}, [&] {
      if (!is_put) return;
      (void)wait_for_notification(world.port(1), world.host(1));
      end = world.host(1).now().ps;
    });
    world.engine.run();
    CHECK(has_pattern(world.at(is_put ? 1 : 0), kSize, 5));
    CHECK(end >= 1000 * 544'000);
    CHECK(end < 1000 * 544'000 + 3'000'000);
  }
}

// Every rank puts to and gets from random ranks, and checks the data that it has at the end.
struct Outcome {
  std::vector<std::int64_t> clocks;
  std::vector<std::uint64_t> hashes;
  bool operator==(const Outcome&) const = default;
};

Outcome traffic(const Shape& shape, std::uint64_t seed) {
  constexpr Bytes kPiece = 1024;
  constexpr unsigned kOperations = 40;
  const unsigned ranks = shape.ranks;
  // Memory of each rank: readable bytes, a landing place for each other rank, a place for each of its gets, and bytes
  // that it sends.
  const Bytes readable = 0;
  const Bytes landing = kPiece;
  const Bytes fetched = landing + ranks * kPiece;
  const Bytes outgoing = fetched + kPiece;
  RmaWorld world(shape, outgoing + kPiece);
  Outcome outcome{std::vector<std::int64_t>(ranks), std::vector<std::uint64_t>(ranks)};
  for (unsigned rank = 0; rank < ranks; ++rank) write_pattern(world.at(rank, readable), kPiece, 7000 + rank);
  for (unsigned self = 0; self < ranks; ++self) {
    world.engine.start(Rank{self}, [&, self] {
      sim::ModelHost host = world.host(self);
      ExtollPort& port = world.port(self);
      std::uint64_t draw = splitmix64(seed * 100 + self);
      for (unsigned i = 0; i < kOperations; ++i) {
        draw = splitmix64(draw);
        const auto peer = static_cast<unsigned>(draw % ranks);
        const Bytes size = draw / 64 % kPiece + 1;
        const bool is_put = (draw >> 40U) % 2 == 0;
        host.synchronise();
        if (is_put) write_pattern(world.at(self, outgoing), size, self * 1000 + i);
        while ((is_put ? port.rma_put(Rank{peer}, world.at(peer, landing + self * kPiece), world.at(self, outgoing),
                                      size, Notify::requester)
                       : port.rma_get(Rank{peer}, world.at(self, fetched), world.at(peer, readable), size,
                                      Notify::completer)) != Status::ok) {
          host.idle(kNever);
        }
        const Notification done = wait_for_notification(port, host);
        CHECK(done.size == size);
        if (!is_put) CHECK(has_pattern(world.at(self, fetched), size, 7000 + peer));
        outcome.hashes[self] = splitmix64(outcome.hashes[self] ^ static_cast<std::uint64_t>(host.now().ps));
      }
      // All packets have arrived by then.
      sleep_until(host, {500'000'000});
      outcome.clocks[self] = host.now().ps;
      for (Bytes i = 0; i < ranks * kPiece; ++i) {
        outcome.hashes[self] =
            splitmix64(outcome.hashes[self] ^ static_cast<std::uint64_t>(*world.at(self, landing + i)));
      }
    });
  }
  world.engine.run();
  return outcome;
}

TEST_CASE("transfers_give_the_same_lazily_strictly_and_on_any_number_of_threads") {
  for (const char* topology : {"mesh2d:2x2", "torus3d:2x2x2"}) {
    CAPTURE(topology);
    const Outcome lazy = traffic({.ranks = 8, .topology = topology}, 1);
    CHECK((lazy == traffic({.ranks = 8, .topology = topology, .strict = true}, 1)));
    for (unsigned threads = 2; threads <= 4; ++threads) {
      CHECK((lazy == traffic({.ranks = 8, .topology = topology, .threads = threads}, 1)));
    }
  }
}

}  // namespace
}  // namespace gasmeter::networks::extoll::rma_test
