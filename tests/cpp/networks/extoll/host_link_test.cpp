// HyperTransport between a node and its card, which all cores and units of the node share. tests/golden/extoll.md
// derives the times.
#include "gasmeter/networks/extoll/host_link.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <vector>

#include "support/pattern.hpp"
#include "world.hpp"

namespace gasmeter::networks::extoll::host_link_test {
namespace {

using namespace testing;

constexpr std::array<std::byte, kVeloPayload> kFull{};

TEST_CASE("whoever_is_alone_on_the_link_waits_for_nothing") {
  HostLink link(1'000'000);
  CHECK(link.end(64, {104'000}).ps == 104'000);
  CHECK(link.end(256, {500'000}).ps == 500'000);
  CHECK(link.begin(16, {500'000}).ps == 516'000);
  HostLink free_of_charge(0);
  CHECK(free_of_charge.begin(16, {500'000}).ps == 500'000);
}

TEST_CASE("the_link_rests_only_where_nobody_has_bytes") {
  HostLink link(1'000'000);
  CHECK(link.end(64, {700'000}).ps == 700'000);
  CHECK(link.end(256, {820'000}).ps == 884'000);  // from 564 on, except 636 to 700
  CHECK(link.end(64, {850'000}).ps == 948'000);   // the other transfer has the link from 786 on
  CHECK(link.begin(8, {900'000}).ps == 956'000);  // behind both
  CHECK(link.end(8, {1'000'000}).ps == 1'000'000);
}

// The reference is a link that knows all transfers beforehand and passes a byte at a time.
TEST_CASE("the_link_passes_as_much_in_any_time_as_one_that_knows_all") {
  std::mt19937_64 random(11);
  for (int trial = 0; trial < 200; ++trial) {
    HostLink link(1'000'000);
    struct Claim {
      std::int64_t from;
      std::int64_t bytes;
      std::int64_t end;
    };
    std::vector<Claim> claims;
    std::int64_t now = 1000;
    std::int64_t last_end = 0;
    for (int i = 0; i < 60; ++i) {
      now += static_cast<std::int64_t>(random() % 120);
      const auto bytes = static_cast<std::int64_t>(1 + random() % (random() % 4 == 0 ? 512 : 64));
      const bool waits = random() % 3 == 0;
      const SimTime at{now * 1000};
      const SimTime end = waits ? link.begin(static_cast<Bytes>(bytes), at) : link.end(static_cast<Bytes>(bytes), at);
      CHECK(end.ps % 1000 == 0);
      claims.push_back({waits ? now : now - bytes, bytes, end.ps / 1000});
      CHECK(claims.back().end >= claims.back().from + bytes);
      // A transfer ends in time that others have left, or behind all others.
      CHECK((claims.back().end == now || claims.back().end > last_end));
      last_end = std::max(last_end, claims.back().end);
    }
    // Each claim brings work at its begin. A link that never rests has done the last of it at `idle_from`.
    std::vector<Claim> sorted = claims;
    std::sort(sorted.begin(), sorted.end(), [](const Claim& a, const Claim& b) { return a.from < b.from; });
    std::int64_t idle_from = 0;
    for (const Claim& claim : sorted) idle_from = std::max(idle_from, claim.from) + claim.bytes;
    CHECK(last_end == idle_from);
  }
}

TEST_CASE("cores_of_a_node_store_to_their_card_one_after_the_other") {
  World world({.ranks = 20, .topology = "crossbar:5", .ranks_per_node = 4},
              {.link = {0, {300'000}, 4}, .velo_send_engine = {}});
  std::vector<std::int64_t> taken(4);
  for (unsigned rank = 0; rank < 4; ++rank) {
    world.engine.start(Rank{rank}, [&, rank] {
      send(world.port(rank), world.host(rank), 4 * rank + 4, kFull);
      CHECK(world.host(rank).now().ps == 104'000);  // the stores are posted
    });
    world.engine.start(Rank{4 * rank + 4}, [&, rank] {
      (void)wait_for_packet(world.port(4 * rank + 4), world.host(4 * rank + 4));
      taken[rank] = world.host(4 * rank + 4).now().ps / 1000;
    });
  }
  world.engine.run();
  CHECK((taken == std::vector<std::int64_t>{1160, 1220, 1290, 1350}));
}

TEST_CASE("a_card_writes_the_mailboxes_of_its_node_one_after_the_other") {
  World world({.ranks = 6, .topology = "mesh2d:3x1", .ranks_per_node = 2},
              {.link = {0, {300'000}, 4}, .velo_send_engine = {}});
  std::vector<std::int64_t> taken(2);
  for (unsigned i = 0; i < 2; ++i) {
    world.engine.start(Rank{4 * i}, [&, i] { send(world.port(4 * i), world.host(4 * i), i + 2, kFull); });
    world.engine.start(Rank{i + 2}, [&, i] {
      (void)wait_for_packet(world.port(i + 2), world.host(i + 2));
      taken[i] = world.host(i + 2).now().ps / 1000;
    });
  }
  world.engine.run();
  CHECK((taken == std::vector<std::int64_t>{860, 920}));
}

TEST_CASE("what_a_card_reads_shares_the_link_with_stores") {
  for (const bool stores : {false, true}) {
    World world({.ranks = 4, .ranks_per_node = 2});
    std::vector<std::byte> memory(512);
    for (unsigned rank : {0U, 2U}) world.port(rank).register_memory(memory);
    world.engine.start(Rank{0}, [&] {
      CHECK(world.port(0).rma_put(Rank{2}, memory.data() + 256, memory.data(), 256, Notify::completer) == Status::ok);
    });
    if (stores) {
      world.engine.start(Rank{1}, [&] {
        world.host(1).spend({596'000});
        send(world.port(1), world.host(1), 0, kFull);
      });
    }
    world.engine.start(Rank{2}, [&] {
      (void)wait_for_notification(world.port(2), world.host(2));
      CHECK(world.host(2).now().ps == (stores ? 2'050'000 : 1'980'000));
    });
    world.engine.run();
  }
}

TEST_CASE("a_read_pointer_comes_behind_the_stores_of_other_cores") {
  for (const bool stores : {false, true}) {
    World world({.ranks = 8, .ranks_per_node = 4}, {.mailbox_slots = 1, .read_pointer_update = 1});
    world.port(0).hold_when_full();
    world.engine.start(Rank{4}, [&] {
      for (int i = 0; i < 2; ++i) send(world.port(4), world.host(4), 0, kFull);
    });
    for (unsigned rank = 1; stores && rank < 4; ++rank) {
      world.engine.start(Rank{rank}, [&, rank] {
        world.host(rank).spend({1'896'000});
        send(world.port(rank), world.host(rank), rank + 4, kFull);
      });
    }
    world.engine.start(Rank{0}, [&] {
      sim::ModelHost host = world.host(0);
      (void)wait_for_packet(world.port(0), host);
      CHECK(host.now().ps == 1'020'000);
      host.spend({942'000});
      world.port(0).mailbox_free();
      CHECK(host.now().ps == 2'010'000);
      (void)wait_for_packet(world.port(0), host);
      CHECK(host.now().ps == (stores ? 2'300'000 : 2'180'000));
    });
    world.engine.run();
  }
}

}  // namespace
}  // namespace gasmeter::networks::extoll::host_link_test
