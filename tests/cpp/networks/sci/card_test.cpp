// Transactions, stalls, sequences and loads. tests/golden/sci.md derives the golden times.
#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "gasmeter/networks/sci/sci_card.hpp"
#include "networks/sci/conduit_job.hpp"

namespace gasmeter::networks::sci::card_test {
namespace {

using namespace testing;

// Every rank exports memory that all ranks may store to.
struct Exported : World {
  explicit Exported(const Shape& shape = {}, const SciParameters& parameters = {}) : World(shape, parameters) {
    for (unsigned rank = 0; rank < shape.ranks; ++rank) {
      memory.emplace_back(4096);
      sisci(rank).create_segment(0, segments.emplace_back(memory.back()));
      sisci(rank).set_available(0);
    }
  }
  void store(unsigned from, unsigned to, Bytes at, Bytes bytes, unsigned char value = 1) {
    const std::vector<std::byte> data(bytes, std::byte{value});
    sisci(from).store(sisci(from).connect(Rank{to}, 0), at, data);
  }
  std::deque<AlignedBuffer> memory;
  std::deque<MemorySegment> segments;
};

TEST_CASE("sci_stores_are_in_memory_in_their_golden_time") {
  for (const bool strict : {false, true}) {
    Exported world({.strict = strict});
    world.engine.start(Rank{0}, [&] {
      world.store(0, 1, 0, 8);
      CHECK(world.host(0).now().ps == 116'000);
      world.sisci(0).check();
      CHECK(world.host(0).now().ps == 1'252'000);
      world.sisci(0).check();  // no transaction is open
      CHECK(world.host(0).now().ps == 1'752'000);
      world.store(0, 1, 128, 128);
      CHECK(world.host(0).now().ps == 1'752'000 + 456'000);
    });
    world.engine.start(Rank{1}, [&] {
      sim::ModelHost host = world.host(1);
      while (world.memory[1].data()[7] == std::byte{0}) host.idle(kNever);
      CHECK(host.now().ps == 1'060'000);  // 1052
      while (world.memory[1].data()[255] == std::byte{0}) host.idle(kNever);
      CHECK(host.now().ps == 3'370'000);  // 3364
    });
    world.engine.run();
  }
}

// Stores of 8 B take 116. An echo returns 636 after its packet was begun.
TEST_CASE("sci_a_store_that_finds_no_transaction_stalls_its_core") {
  struct Case {
    unsigned outstanding;
    SimTime send;
    std::vector<std::int64_t> clocks;  // ns, after each store
    std::uint64_t held;
  };
  std::vector<std::int64_t> sixteen;
  for (int i = 1; i <= 16; ++i) sixteen.push_back(116 * i);
  sixteen.push_back(116 + 4236);
  sixteen.push_back(232 + 4236);
  for (const Case& each :
       {Case{1, {400'000}, {116, 752, 1388, 2024}, 3}, Case{2, {400'000}, {116, 232, 752, 868, 1388, 1504}, 2},
        Case{16, {4'000'000}, sixteen, 1}}) {
    CAPTURE(each.outstanding);
    SciParameters parameters;
    parameters.outstanding = each.outstanding;
    parameters.send = each.send;
    Exported world({}, parameters);
    world.engine.start(Rank{0}, [&] {
      Bytes at = 0;
      for (const std::int64_t clock : each.clocks) {
        world.store(0, 1, at, 8);
        at += 64;
        CHECK(world.host(0).now().ps == clock * 1000);
      }
    });
    world.engine.start(Rank{1}, [] {});
    world.engine.run();
    CHECK(world.card(0).held() == each.held);
    CHECK(world.card(0).transactions() == each.clocks.size());
  }
}

// 40 B leave in one burst, 180, as packets of 16, 16 and 8. The core continues when the last one is a transaction.
TEST_CASE("sci_a_burst_stalls_until_all_its_packets_are_transactions") {
  SciParameters parameters;
  parameters.outstanding = 1;
  Exported world({}, parameters);
  world.engine.start(Rank{0}, [&] {
    world.store(0, 1, 0, 40);
    CHECK(world.host(0).now().ps == 180'000 + 2 * 636'000);
    world.sisci(0).check();
    CHECK(world.host(0).now().ps == 180'000 + 3 * 636'000 + 500'000);
  });
  world.engine.start(Rank{1}, [] {});
  world.engine.run();
}

// Two ranks of a node share the card's transactions, but each waits for its own echoes. The second rank's packet waits
// for the first rank's echo. A check waits for the echoes of its own rank.
TEST_CASE("sci_ranks_of_a_node_share_transactions_and_wait_for_their_own") {
  SciParameters parameters;
  parameters.outstanding = 1;
  Exported world({.ranks = 3, .node_of = {0, 0, 1}}, parameters);
  world.engine.start(Rank{0}, [&] {
    world.store(0, 2, 0, 8);
    world.sisci(0).check();
    CHECK(world.host(0).now().ps == 1'252'000);
  });
  world.engine.start(Rank{1}, [&] {
    sleep_until(world.host(1), SimTime{100'000});
    world.store(1, 2, 64, 8);  // stored at 216
    CHECK(world.host(1).now().ps == 752'000);
    world.sisci(1).check();
    CHECK(world.host(1).now().ps == 1'388'000 + 500'000);
  });
  world.engine.start(Rank{2}, [] {});
  world.engine.run();
}

// An arrival does not wake a core that stalls. Rank 1 stores into rank 0's memory at 1252, while rank 0 stalls from 868
// to 1388.
TEST_CASE("sci_a_core_that_stalls_is_not_woken") {
  SciParameters parameters;
  parameters.outstanding = 1;
  Exported world({}, parameters);
  world.engine.start(Rank{0}, [&] {
    for (Bytes at = 0; at < 3 * 64; at += 64) world.store(0, 1, at, 8);
    CHECK(world.host(0).now().ps == 1'388'000);
    world.host(0).synchronise();
    CHECK(world.memory[0].data()[0] == std::byte{9});
  });
  world.engine.start(Rank{1}, [&] {
    sleep_until(world.host(1), SimTime{200'000});
    world.store(1, 0, 0, 8, 9);
  });
  world.engine.run();
}

// A word is a round trip of 3456: 400, 100 + 20, 2000, 400, 100 + 36, 400.
TEST_CASE("sci_loads_are_round_trips_that_stop_the_core") {
  Exported world({.ranks = 3, .node_of = {0, 1, 1}});
  for (Bytes i = 0; i < 64; ++i) world.memory[1].data()[i] = std::byte{static_cast<unsigned char>(i)};
  std::vector<std::byte> into(24);
  const auto is_right = [&] {
    for (Bytes i = 0; i < 24; ++i) {
      if (into[i] != std::byte{static_cast<unsigned char>(4 + i)}) return false;
    }
    return true;
  };
  world.engine.start(Rank{0}, [&] {
    world.sisci(0).load(world.sisci(0).connect(Rank{1}, 0), 8, std::span(into).first(8));
    CHECK(world.host(0).now().ps == 3'456'000);
    world.sisci(0).load(world.sisci(0).connect(Rank{1}, 0), 4, into);  // 4, 8, 8 and 4 B
    CHECK(world.host(0).now().ps == 5 * 3'456'000);
    CHECK(is_right());
    CHECK(world.sisci(0).counters().loads == 5);
    world.sisci(0).check();  // the echoes of the requests have returned
    CHECK(world.host(0).now().ps == 5 * 3'456'000 + 500'000);
  });
  world.engine.start(Rank{1}, [] {});
  world.engine.start(Rank{2}, [&] {
    sleep_until(world.host(2), SimTime{50'000'000});
    into.assign(24, std::byte{0xff});
    const SimTime begin = world.host(2).now();
    world.sisci(2).load(world.sisci(2).connect(Rank{1}, 0), 4, into);  // of a node mate
    CHECK((world.host(2).now() - begin).ps == 200'000);
    CHECK(is_right());
  });
  world.engine.run();
}

// The request leaves behind the store's packet, whose 36 B pass the link first.
TEST_CASE("sci_loads_come_behind_stores_of_the_same_core") {
  Exported world;
  world.engine.start(Rank{0}, [&] {
    world.store(0, 1, 0, 8, 5);
    std::vector<std::byte> into(8);
    world.sisci(0).load(world.sisci(0).connect(Rank{1}, 0), 0, into);
    CHECK(into[7] == std::byte{5});
    CHECK(world.host(0).now().ps == 116'000 + 36'000 + 3'456'000);
  });
  world.engine.start(Rank{1}, [] {});
  world.engine.run();
}

// The bridge turns packets for its own node round: no link, no transaction, 400 to memory.
TEST_CASE("sci_stores_within_a_node_use_no_link") {
  Exported world({.ranks = 2, .node_of = {1, 1}});
  world.engine.start(Rank{0}, [&] {
    world.store(0, 1, 0, 8);
    world.sisci(0).check();
    CHECK(world.host(0).now().ps == 616'000);
  });
  world.engine.start(Rank{1}, [&] {
    while (world.memory[1].data()[7] == std::byte{0}) world.host(1).idle(kNever);
    CHECK(world.host(1).now().ps == 520'000);  // 516
  });
  world.engine.run();
  CHECK(world.card(0).transactions() == 0);
}

}  // namespace
}  // namespace gasmeter::networks::sci::card_test
