// The packets that stores become, and the part of a ring that they load.
#include <doctest/doctest.h>

#include <cstdint>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "networks/sci/conduit_job.hpp"

namespace gasmeter::networks::sci::packets_test {
namespace {

using namespace testing;

struct Carried {
  std::uint64_t packets = 0;
  std::uint64_t bytes = 0;
  friend bool operator==(const Carried&, const Carried&) = default;
};

// The reference works byte by byte. A byte goes with its block of 128, if the store covers all of that and the card
// gathers so much. Else it goes with its line of 64, if the store covers all of that, or else with its 16 bytes.
Carried modelled(Bytes at, Bytes bytes, Bytes gather, Bytes header) {
  std::set<std::pair<Bytes, Bytes>> packets;  // size, number
  for (Bytes byte = at; byte < at + bytes; ++byte) {
    const auto is_whole = [&](Bytes size) {
      const Bytes first = byte / size * size;
      return size <= gather && first >= at && first + size <= at + bytes;
    };
    const Bytes size = is_whole(128) ? 128 : is_whole(64) ? 64 : 16;
    packets.insert({size, byte / size});
  }
  Carried result;
  for (const auto& packet : packets) {
    ++result.packets;
    result.bytes += packet.first + header;
  }
  return result;
}

Carried carried(SciNetwork& network, std::uint32_t from) {
  Carried result;
  for (const sim::LinkUse& link : network.fabric().use()) {
    if (link.vertex != from) continue;
    result.packets += link.packets;
    result.bytes += link.bytes;
  }
  return result;
}

TEST_CASE("sci_stores_become_packets_of_16_64_and_128_bytes") {
  for (const Bytes gather : {Bytes{64}, Bytes{128}}) {
    SciParameters parameters;
    parameters.gather = gather;
    World world({}, parameters);
    AlignedBuffer memory(512);
    MemorySegment segment(memory);
    world.sisci(1).create_segment(0, segment);
    world.sisci(1).set_available(0);
    std::vector<std::byte> expected(512);
    world.engine.start(Rank{0}, [&] {
      Sisci& sisci = world.sisci(0);
      const RemoteSegment remote = sisci.connect(Rank{1}, 0);
      for (Bytes at = 0; at < 128; ++at) {
        for (Bytes bytes = 1; bytes <= 300; ++bytes) {
          const std::vector<std::byte> data = patterned(bytes, 1000 * at + bytes);
          std::memcpy(expected.data() + at, data.data(), bytes);
          world.network.fabric().reset_use();
          sisci.store(remote, at, data);
          sisci.check();
          // Echoes return before memory has the bytes.
          sleep_until(world.host(0), world.host(0).now() + SimTime{5'000'000});
          const Carried packets = carried(world.network, 0);
          const Carried model = modelled(at, bytes, gather, parameters.header);
          const Carried echoes = carried(world.network, 1);
          const bool is_right = packets == model && echoes == Carried{model.packets, model.packets * parameters.echo} &&
                                std::memcmp(expected.data(), memory.data(), 512) == 0;
          if (is_right) continue;
          CAPTURE(gather);
          CAPTURE(at);
          CAPTURE(bytes);
          CHECK(packets.packets == model.packets);
          CHECK(packets.bytes == model.bytes);
          CHECK(echoes.packets == model.packets);
          FAIL("a store is not what the model says");
        }
      }
    });
    world.engine.start(Rank{1}, [] {});
    world.engine.run();
  }
}

// Packet and echo together pass each link of the ring once.
TEST_CASE("sci_a_transaction_loads_its_whole_ring") {
  for (const unsigned target : {1U, 2U, 3U}) {
    CAPTURE(target);
    World world({.ranks = 4, .topology = "oneway-ring:4"});
    std::vector<std::byte> memory(64);
    MemorySegment segment(memory);
    world.sisci(target).create_segment(0, segment);
    world.sisci(target).set_available(0);
    world.engine.start(Rank{0}, [&] {
      const std::vector<std::byte> data(8, std::byte{1});
      world.sisci(0).store(world.sisci(0).connect(Rank{target}, 0), 0, data);
      world.sisci(0).check();
      // 8 B: 516 on the first link, 100 a hop and 36 behind the last. The echo goes the rest of the ring.
      CHECK(world.host(0).now().ps == 516'000 + 400'000 + 36'000 + 500'000);
    });
    for (unsigned rank = 1; rank < 4; ++rank) world.engine.start(Rank{rank}, [] {});
    world.engine.run();
    for (std::uint32_t node = 0; node < 4; ++node) {
      CAPTURE(node);
      CHECK(carried(world.network, node) == Carried{1, node < target ? 36U : 8U});
    }
  }
}

// A packet turns into a second ring. The echo of that ring returns to the card where the packet turned, which did not
// open the transaction.
TEST_CASE("sci_a_way_with_a_turn_is_a_transaction_of_its_first_ring") {
  World world({.ranks = 4, .topology = "oneway-torus2d:2x2"});
  std::vector<std::byte> memory(64);
  MemorySegment segment(memory);
  for (const unsigned rank : {0U, 3U}) {
    if (rank == 0) continue;
    world.sisci(rank).create_segment(0, segment);
    world.sisci(rank).set_available(0);
  }
  SimTime seen;
  world.engine.start(Rank{0}, [&] {
    const std::vector<std::byte> data(8, std::byte{1});
    world.sisci(0).store(world.sisci(0).connect(Rank{3}, 0), 0, data);
    CHECK(world.host(0).now().ps == 116'000);
    world.sisci(0).check();
    CHECK(world.host(0).now().ps == 1'252'000);  // as without the turn
  });
  world.engine.start(Rank{3}, [&] {
    while (memory[0] == std::byte{0}) world.host(3).idle(kNever);
    seen = world.host(3).now();
  });
  for (const unsigned rank : {1U, 2U}) {
    world.engine.start(Rank{rank}, [&, rank] {
      sim::ModelHost host = world.host(rank);
      sleep_until(host, SimTime{5'000'000});
      const SimTime begin = host.now();
      const std::vector<std::byte> data(8, std::byte{2});
      // All transactions are open, and each rank waits for its own echo: one ring to rank 3 from either rank.
      world.sisci(rank).store(world.sisci(rank).connect(Rank{3}, 0), 8 * rank, data);
      world.sisci(rank).check();
      CHECK((host.now() - begin).ps == 1'252'000);
      CHECK(world.card(rank).transactions() == 1);
      CHECK(world.card(rank).held() == 0);
    });
  }
  world.engine.run();
  // 652 at the turn, 300 there, 136 more, 400 to memory: 1488. Polls come every 10.
  CHECK(seen.ps == 1'490'000);
}

// The card has one transaction at a time, so that a wrong number of closed ones would show at once.
TEST_CASE("sci_echoes_of_turns_close_nothing_whatever_is_open") {
  for (const std::string topology : {"oneway-torus2d:3x3", "oneway-torus3d:2x2x2"}) {
    CAPTURE(topology);
    const unsigned ranks = sim::Topology::parse(topology).terminals();
    SciParameters parameters;
    parameters.outstanding = 1;
    World world({.ranks = ranks, .topology = topology}, parameters);
    std::vector<std::vector<std::byte>> memory(ranks, std::vector<std::byte>(Bytes{ranks} * 64));
    std::deque<MemorySegment> segments;
    for (unsigned rank = 0; rank < ranks; ++rank) {
      world.sisci(rank).create_segment(0, segments.emplace_back(memory[rank]));
      world.sisci(rank).set_available(0);
    }
    for (unsigned rank = 0; rank < ranks; ++rank) {
      world.engine.start(Rank{rank}, [&, rank] {
        const std::vector<std::byte> data(64, std::byte{static_cast<unsigned char>(rank + 1)});
        for (unsigned step = 1; step < ranks; ++step) {
          const unsigned to = (rank + step) % ranks;
          world.sisci(rank).store(world.sisci(rank).connect(Rank{to}, 0), Bytes{rank} * 64, data);
          if (step % 3 == 0) world.sisci(rank).check();
        }
        world.sisci(rank).check();
        sleep_until(world.host(rank), SimTime{100'000'000});
      });
    }
    world.engine.run();
    for (unsigned rank = 0; rank < ranks; ++rank) {
      CHECK(world.card(rank).transactions() == ranks - 1);
      for (unsigned from = 0; from < ranks; ++from) {
        const auto expected = static_cast<unsigned char>(from == rank ? 0 : from + 1);
        CHECK(gasmeter::testing::is_filled(memory[rank].data() + Bytes{from} * 64, 64, expected));
      }
    }
  }
}

}  // namespace
}  // namespace gasmeter::networks::sci::packets_test
