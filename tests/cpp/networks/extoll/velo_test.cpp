// VELO unit. tests/golden/extoll.md derives the golden times.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <random>
#include <vector>

#include "gasmeter/base/error.hpp"
#include "gasmeter/base/random.hpp"
#include "support/pattern.hpp"
#include "world.hpp"

namespace gasmeter::networks::extoll::velo_test {
namespace {

using namespace testing;
using gasmeter::testing::has_pattern;
using gasmeter::testing::write_pattern;

constexpr std::array<std::byte, kVeloPayload> kFull{};
constexpr std::span<const std::byte> kWord = std::span(kFull).first(8);

TEST_CASE("packet_of_one_word_over_one_link") {
  World world;
  const std::uint64_t sent = 0x0123456789abcdefU;
  world.engine.start(Rank{0}, [&] {
    CHECK(world.port(0).velo_send(Rank{1}, std::as_bytes(std::span(&sent, 1)), 9) == Status::ok);
    CHECK(world.host(0).now().ps == 104'000);
  });
  world.engine.start(Rank{1}, [&] {
    const VeloPacket& packet = wait_for_packet(world.port(1), world.host(1));
    CHECK(world.host(1).now().ps == 920'000);
    CHECK(packet.status.source == Rank{0});
    CHECK(packet.status.tag == 9);
    REQUIRE(packet.status.size == 8);
    CHECK(std::memcmp(packet.payload.data(), &sent, 8) == 0);
    world.port(1).mailbox_free();
  });
  world.engine.run();
  CHECK(world.port(0).counters().velo_sent == 1);
  CHECK(world.port(1).counters().velo_received == 1);
}

TEST_CASE("full_packet_over_one_link") {
  World world;
  world.engine.start(Rank{0}, [&] { send(world.port(0), world.host(0), 1, kFull); });
  world.engine.start(Rank{1}, [&] {
    CHECK(wait_for_packet(world.port(1), world.host(1)).status.size == 56);
    CHECK(world.host(1).now().ps == 1'020'000);
  });
  world.engine.run();
}

TEST_CASE("packets_back_to_back_wait_for_the_link") {
  World world;
  std::vector<std::int64_t> taken;
  world.engine.start(Rank{0}, [&] {
    for (int i = 0; i < 3; ++i) send(world.port(0), world.host(0), 1, kFull);
    CHECK(world.host(0).now().ps == 312'000);
  });
  world.engine.start(Rank{1}, [&] {
    for (int i = 0; i < 3; ++i) {
      (void)wait_for_packet(world.port(1), world.host(1));
      taken.push_back(world.host(1).now().ps / 1000);
    }
  });
  world.engine.run();
  CHECK((taken == std::vector<std::int64_t>{1020, 1180, 1340}));
}

TEST_CASE("the_engine_takes_longer_for_more_bytes") {
  for (const Bytes size : {Bytes{8}, Bytes{56}}) {
    World world({}, {.velo_send_engine = {100'000}});
    std::vector<std::int64_t> taken;
    world.engine.start(Rank{0}, [&] {
      for (int i = 0; i < 3; ++i) send(world.port(0), world.host(0), 1, std::span(kFull).first(size));
    });
    world.engine.start(Rank{1}, [&] {
      for (int i = 0; i < 3; ++i) {
        (void)wait_for_packet(world.port(1), world.host(1));
        taken.push_back(world.host(1).now().ps / 1000);
      }
    });
    world.engine.run();
    CHECK(taken ==
          (size == 8 ? std::vector<std::int64_t>{920, 1050, 1190} : std::vector<std::int64_t>{1020, 1250, 1470}));
  }
}

TEST_CASE("two_flows_meet_at_a_link") {
  World world({.ranks = 3, .topology = "mesh2d:3x1"});
  std::vector<std::pair<std::int64_t, unsigned>> taken;
  world.engine.start(Rank{0}, [&] { send(world.port(0), world.host(0), 2, kFull); });
  world.engine.start(Rank{1}, [&] {
    sleep_until(world.host(1), {250'000});
    send(world.port(1), world.host(1), 2, kFull);
  });
  world.engine.start(Rank{2}, [&] {
    for (int i = 0; i < 2; ++i) {
      const VeloPacket& packet = wait_for_packet(world.port(2), world.host(2));
      taken.emplace_back(world.host(2).now().ps / 1000, index(packet.status.source));
    }
  });
  world.engine.run();
  CHECK((taken == std::vector<std::pair<std::int64_t, unsigned>>{{1270, 1}, {1430, 0}}));
}

TEST_CASE("ranks_of_a_node_share_its_engine") {
  World world({.ranks = 4});
  std::vector<std::int64_t> stored;
  for (unsigned sender : {0U, 1U}) {
    world.engine.start(Rank{sender}, [&, sender] { send(world.port(sender), world.host(sender), sender + 2, kFull); });
  }
  for (unsigned receiver : {2U, 3U}) {
    world.engine.start(Rank{receiver}, [&, receiver] {
      const VeloPacket& packet = wait_for_packet(world.port(receiver), world.host(receiver));
      CHECK(packet.status.source == Rank{receiver - 2});
      // Both packets are stored at 104. The second passes until 168, waits until 252 for the engine, then 12 for the
      // link: 1074.
      CHECK(world.host(receiver).now().ps == (receiver == 2 ? 1'020'000 : 1'180'000));
    });
  }
  world.engine.run();
}

TEST_CASE("a_rank_sends_to_itself_and_to_its_node_mate") {
  World world({.ranks = 4});
  world.engine.start(Rank{0}, [&] {
    send(world.port(0), world.host(0), 0, kWord, 1);
    send(world.port(0), world.host(0), 1, kWord, 2);
    CHECK(wait_for_packet(world.port(0), world.host(0)).status.tag == 1);
  });
  world.engine.start(Rank{1}, [&] { CHECK(wait_for_packet(world.port(1), world.host(1)).status.tag == 2); });
  world.engine.run();
}

TEST_CASE("full_mailbox_drops_the_packet_and_its_sender_is_told") {
  World world({}, {.mailbox_slots = 2, .read_pointer_update = 2});
  world.engine.start(Rank{0}, [&] {
    for (std::uint8_t i = 0; i < 3; ++i) send(world.port(0), world.host(0), 1, kWord, i);
    CHECK(world.host(0).now().ps == 312'000);
    const Notification notice = wait_for_notification(world.port(0), world.host(0));
    CHECK((notice == Notification{Notification::Kind::dropped, 2, Rank{1}, 0, nullptr}));
    CHECK(world.host(0).now().ps == 1'692'000);
    sleep_until(world.host(0), {20'000'000});
    send(world.port(0), world.host(0), 1, kWord, notice.tag);
  });
  world.engine.start(Rank{1}, [&] {
    sleep_until(world.host(1), {10'000'000});
    for (std::uint8_t i = 0; i < 3; ++i) {
      CHECK(wait_for_packet(world.port(1), world.host(1)).status.tag == i);
      world.port(1).mailbox_free();
    }
  });
  world.engine.run();
  CHECK(world.port(1).counters().velo_received == 3);
  CHECK(world.port(1).counters().velo_dropped == 1);
  CHECK(world.port(1).counters().deepest_mailbox == 2);
  CHECK(world.port(0).counters().notifications == 1);
}

TEST_CASE("full_mailbox_that_is_to_hold_keeps_packets_back_in_order") {
  World world({}, {.mailbox_slots = 2, .read_pointer_update = 2});
  world.port(1).hold_when_full();
  world.engine.start(Rank{0}, [&] {
    for (std::uint8_t i = 0; i < 5; ++i) send(world.port(0), world.host(0), 1, kWord, i);
  });
  world.engine.start(Rank{1}, [&] {
    sleep_until(world.host(1), {10'000'000});
    CHECK(world.port(1).counters().velo_received == 2);
    CHECK(world.port(1).counters().most_held == 3);
    for (std::uint8_t i = 0; i < 5; ++i) {
      CHECK(wait_for_packet(world.port(1), world.host(1)).status.tag == i);
      world.port(1).mailbox_free();
    }
  });
  world.engine.run();
  CHECK(world.port(1).counters().velo_received == 5);
  CHECK(world.port(1).counters().velo_dropped == 0);
  CHECK(world.port(0).counters().notifications == 0);
}

TEST_CASE("what_is_held_back_for_the_same_card_keeps_its_place_there") {
  World world({.ranks = 2, .topology = "mesh2d:1x1"}, {.mailbox_slots = 2, .read_pointer_update = 2});
  world.port(1).hold_when_full();
  world.engine.start(Rank{0}, [&] {
    unsigned sent = 0;
    while (world.port(0).velo_send(Rank{1}, kWord, 0) == Status::ok) {
      ++sent;
      sleep_until(world.host(0), world.host(0).now() + SimTime{1'000'000});
    }
    CHECK(sent == 2 + ExtollPort::kVeloSlots);
    world.host(0).idle(kNever);
    CHECK(world.port(0).has_velo_room(1));
  });
  world.engine.start(Rank{1}, [&] {
    sleep_until(world.host(1), {100'000'000});
    for (unsigned i = 0; i < 2 + ExtollPort::kVeloSlots; ++i) {
      (void)wait_for_packet(world.port(1), world.host(1));
      world.port(1).mailbox_free();
    }
  });
  world.engine.run();
}

// The third packet for the full mailbox next door leaves the card at 110 us and returns at 115 us. In between, the rank
// fills the places that are left and runs ahead to 119 us. The first of those packets leaves at 121 us, so that the
// card has no room at 119 us.
TEST_CASE("who_runs_ahead_counts_on_room_that_packets_to_the_same_card_may_take_again") {
  for (const bool strict : {false, true}) {
    World world({.ranks = 4, .strict = strict, .ranks_per_node = 2}, {.mailbox_slots = 2,
                                                                      .velo_send_pipeline = {10'000'000},
                                                                      .velo_send_engine = {10'000'000},
                                                                      .velo_receive_engine = {5'000'000},
                                                                      .read_pointer_update = 2});
    world.port(1).hold_when_full();
    world.engine.start(Rank{0}, [&] {
      sim::ModelHost host = world.host(0);
      for (const std::int64_t at : {0, 50'000'000, 100'000'000}) {
        sleep_until(host, {at});
        CHECK(world.port(0).velo_send(Rank{1}, kWord, 0) == Status::ok);
      }
      sleep_until(host, {111'000'000});
      for (unsigned i = 1; i < ExtollPort::kVeloSlots; ++i) {
        CHECK(world.port(0).velo_send(Rank{2}, kWord, 0) == Status::ok);
      }
      CHECK(host.now().ps < 113'000'000);
      host.spend({6'000'000});
      CHECK(!world.port(0).has_velo_room(1));
      CHECK(world.port(1).counters().velo_held == 1);
    });
    world.engine.run();
  }
}

TEST_CASE("the_card_sees_freed_slots_when_the_read_pointer_is_returned") {
  World world({}, {.mailbox_slots = 2, .read_pointer_update = 2});
  world.engine.start(Rank{0}, [&] {
    for (std::uint8_t i = 0; i < 2; ++i) send(world.port(0), world.host(0), 1, kWord, i);
    sleep_until(world.host(0), {5'000'000});
    send(world.port(0), world.host(0), 1, kWord, 2);
    CHECK(wait_for_notification(world.port(0), world.host(0)).tag == 2);
  });
  world.engine.start(Rank{1}, [&] {
    (void)wait_for_packet(world.port(1), world.host(1));
    const SimTime before = world.host(1).now();
    world.port(1).mailbox_free();  // one of two slots: the card is not told
    CHECK(world.host(1).now() == before);
    sleep_until(world.host(1), {9'000'000});
    (void)wait_for_packet(world.port(1), world.host(1));
    const SimTime then = world.host(1).now();
    world.port(1).mailbox_free();
    CHECK((world.host(1).now() - then).ps == 48'000);
  });
  world.engine.run();
  CHECK(world.port(1).counters().velo_dropped == 1);
}

TEST_CASE("without_room_in_the_card_a_packet_is_refused_and_the_rank_woken") {
  World world({}, {.mailbox_slots = 64, .velo_send_pipeline = {10'000'000}, .velo_send_engine = {10'000'000}});
  world.engine.start(Rank{0}, [&] {
    sim::ModelHost host = world.host(0);
    for (unsigned i = 0; i < ExtollPort::kVeloSlots; ++i) {
      CHECK(world.port(0).velo_send(Rank{1}, kWord, 0) == Status::ok);
    }
    const SimTime before = host.now();
    CHECK(world.port(0).velo_send(Rank{1}, kWord, 0) == Status::no_resource);
    CHECK(host.now() == before);
    host.idle(kNever);
    CHECK(host.now().ps >= 10'104'000);
    CHECK(host.now().ps < 10'114'000);
    CHECK(world.port(0).has_velo_room(1));
    CHECK(!world.port(0).has_velo_room(2));
    CHECK(world.port(0).velo_send(Rank{1}, kWord, 0) == Status::ok);
    world.port(0).wake_on_velo_room(3);
    host.idle(kNever);
    CHECK(world.port(0).has_velo_room(3));
    CHECK(!world.port(0).has_velo_room(4));
    CHECK(world.port(0).counters().refused == 1);
  });
  world.engine.run();
}

// A packet leaves every 10 us. At 25 us two of 14 have left, which is the room that the rank has asked for. Packets
// that the rank sends later cannot take that room, however far it has run ahead.
TEST_CASE("what_is_sent_behind_a_wake_does_not_put_it_off") {
  for (const bool strict : {false, true}) {
    World world({.strict = strict}, {.velo_send_pipeline = {10'000'000}, .velo_send_engine = {10'000'000}});
    world.engine.start(Rank{0}, [&] {
      sim::ModelHost host = world.host(0);
      for (unsigned i = 0; i < 14; ++i) CHECK(world.port(0).velo_send(Rank{1}, kWord, 0) == Status::ok);
      world.port(0).wake_on_velo_room(4);
      host.spend({25'000'000});
      CHECK(world.port(0).velo_send(Rank{1}, kWord, 0) == Status::ok);
      const SimTime before = host.now();
      host.idle(kNever);
      CHECK(host.now() == before);
    });
    world.engine.run();
  }
}

TEST_CASE("misuse_of_velo_is_named") {
  World world({.ranks = 1, .topology = "mesh2d:1x1"}, {.velo_payload = 48});
  world.engine.start(Rank{0}, [&] {
    CHECK_THROWS_WITH_AS((void)world.port(0).velo_send(Rank{0}, kFull, 0),
                         "extoll: VELO packet of 56 bytes; at most 48 fit", UsageError);
    CHECK_THROWS_WITH_AS((void)world.port(0).velo_send(Rank{1}, kWord, 0), "extoll: rank 1 does not exist; there are 1",
                         UsageError);
  });
  world.engine.run();
}

// Every rank sends numbered packets to every rank, reads slowly, and sends again what a full mailbox refused.
struct Outcome {
  std::vector<std::int64_t> clocks;
  std::vector<std::uint64_t> hashes;
  std::uint64_t dropped = 0;
  bool operator==(const Outcome&) const = default;
};

constexpr SimTime kEnd{1'000'000'000};

Outcome crowd(const Shape& shape, const ExtollParameters& parameters, std::uint64_t seed, unsigned packets) {
  World world(shape, parameters);
  const unsigned ranks = shape.ranks;
  Outcome outcome{std::vector<std::int64_t>(ranks), std::vector<std::uint64_t>(ranks), 0};
  std::vector<std::vector<unsigned>> counts(ranks, std::vector<unsigned>(ranks * packets));
  const bool may_drop = parameters.mailbox_slots < ranks * packets;
  for (unsigned self = 0; self < ranks; ++self) {
    world.engine.start(Rank{self}, [&, self] {
      sim::ModelHost host = world.host(self);
      ExtollPort& port = world.port(self);
      std::vector<unsigned> sent(ranks);
      std::vector<unsigned> next(ranks);
      std::vector<std::pair<unsigned, unsigned>> again;
      unsigned received = 0;
      std::uint64_t draw = splitmix64(seed * 1000 + self);
      const auto random = [&draw](std::uint64_t below) { return (draw = splitmix64(draw)) % below; };
      const auto post = [&](unsigned to, unsigned number) {
        std::array<std::byte, kVeloPayload> bytes{};
        const Bytes size = 8 + (self * 31 + to * 7 + number) % 49;
        write_pattern(bytes.data(), size, gasmeter::testing::seed_of(self, to, number));
        std::memcpy(bytes.data(), &number, sizeof number);
        return port.velo_send(Rank{to}, std::span(bytes).first(size), static_cast<std::uint8_t>(number)) == Status::ok;
      };
      unsigned left = ranks * packets;
      // A packet of this rank may be dropped after the rank has received everything itself. Therefore all ranks stay to
      // the end.
      while (host.now() < kEnd) {
        bool moved = false;
        if (left != 0) {
          auto to = static_cast<unsigned>(random(ranks));
          while (sent[to] == packets) to = (to + 1) % ranks;
          if (post(to, sent[to])) {
            ++sent[to];
            --left;
            moved = true;
          }
        }
        if (!again.empty() && post(again.back().first, again.back().second)) {
          again.pop_back();
          moved = true;
        }
        while (const auto notice = port.notification_next()) {
          CHECK(notice->kind == Notification::Kind::dropped);
          again.emplace_back(index(notice->peer), notice->tag);
          moved = true;
        }
        if (random(3) == 0) host.charge(conduit::PrivatePrice::update, random(100));
        if (const VeloPacket* const packet = port.mailbox_next()) {
          const unsigned from = index(packet->status.source);
          unsigned number = 0;
          std::memcpy(&number, packet->payload.data(), sizeof number);
          CHECK(packet->status.tag == number);
          CHECK(packet->status.size == 8 + (from * 31 + self * 7 + number) % 49);
          std::array<std::byte, kVeloPayload> expected{};
          write_pattern(expected.data(), packet->status.size, gasmeter::testing::seed_of(from, self, number));
          std::memcpy(expected.data(), &number, sizeof number);
          CHECK(std::memcmp(expected.data(), packet->payload.data(), packet->status.size) == 0);
          ++counts[self][from * packets + number];
          if (!may_drop) CHECK(number == next[from]++);
          port.mailbox_free();
          ++received;
          outcome.hashes[self] =
              splitmix64(outcome.hashes[self] ^ static_cast<std::uint64_t>(host.now().ps) ^ from << 8U ^ number);
          moved = true;
        }
        if (!moved) host.idle(kEnd);
      }
      CHECK(left == 0);
      CHECK(received == ranks * packets);
      CHECK(again.empty());
      outcome.clocks[self] = host.now().ps;
    });
  }
  world.engine.run();
  for (unsigned self = 0; self < ranks; ++self) {
    CHECK(std::all_of(counts[self].begin(), counts[self].end(), [](unsigned count) { return count == 1; }));
    outcome.dropped += world.port(self).counters().velo_dropped;
  }
  return outcome;
}

TEST_CASE("packets_arrive_once_and_in_order_per_pair_under_load") {
  for (const char* topology : {"mesh2d:3x2", "torus3d:2x2x2", "crossbar:6"}) {
    CAPTURE(topology);
    const Outcome outcome =
        crowd({.ranks = 6, .topology = topology}, {.mailbox_slots = 512, .read_pointer_update = 64}, 1, 60);
    CHECK(outcome.dropped == 0);
  }
}

TEST_CASE("what_full_mailboxes_drop_arrives_once_when_it_is_sent_again") {
  const Outcome outcome = crowd({.ranks = 6, .topology = "mesh2d:3x2"},
                                {.mailbox_slots = 4, .velo_receive_engine = {50'000}, .read_pointer_update = 2}, 2, 60);
  CHECK(outcome.dropped > 0);
}

TEST_CASE("synchronisation_and_threads_change_no_picosecond") {
  for (const ExtollParameters& parameters :
       {ExtollParameters{.mailbox_slots = 512, .read_pointer_update = 16},
        ExtollParameters{.mailbox_slots = 4, .velo_receive_engine = {50'000}, .read_pointer_update = 2}}) {
    for (const char* topology : {"mesh2d:2x2", "torus2d:4x2"}) {
      CAPTURE(topology);
      const Outcome lazy = crowd({.ranks = 8, .topology = topology}, parameters, 3, 30);
      CHECK((lazy == crowd({.ranks = 8, .topology = topology, .strict = true}, parameters, 3, 30)));
      for (unsigned threads = 2; threads <= 4; ++threads) {
        CHECK((lazy == crowd({.ranks = 8, .topology = topology, .threads = threads}, parameters, 3, 30)));
      }
    }
  }
}

}  // namespace
}  // namespace gasmeter::networks::extoll::velo_test
