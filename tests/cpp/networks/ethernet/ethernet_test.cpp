// Golden times: tests/golden/ethernet.md has the sums.
#include <doctest/doctest.h>

#include <array>
#include <cstring>
#include <map>
#include <memory>
#include <random>
#include <vector>

#include "gasmeter/base/error.hpp"
#include "gasmeter/networks/ethernet/raw_socket.hpp"
#include "support/effort.hpp"
#include "support/pattern.hpp"
#include "world.hpp"

namespace gasmeter::networks::ethernet::ethernet_test {
namespace {

using namespace testing;
using gasmeter::testing::has_pattern;
using gasmeter::testing::write_pattern;

constexpr Bytes kWord = 8;

struct Pair {
  explicit Pair(const Shape& shape = {}, const EthernetParameters& parameters = {}, Waiting waiting = Waiting::spin)
      : world(shape, parameters, waiting), rank_0(world.network, Rank{0}, 2), rank_1(world.network, Rank{1}, 2) {}
  World world;
  RawSocket rank_0;
  RawSocket rank_1;
};

TEST_CASE("ping_pong_of_a_word_has_its_golden_time") {
  for (const bool strict : {false, true}) {
    Pair pair({.strict = strict});
    pair.world.engine.start(Rank{0}, [&] {
      std::uint64_t word = 41;
      pair.rank_0.send(Rank{1}, &word, kWord);
      CHECK(pair.rank_0.host().now().ps == 2'011'600);
      CHECK(pair.rank_0.receive(&word, kWord) == kWord);
      CHECK(pair.rank_0.host().now().ps == 21'892'400);
      CHECK(word == 42);
    });
    pair.world.engine.start(Rank{1}, [&] {
      std::uint64_t word = 0;
      CHECK(pair.rank_1.receive(&word, kWord) == kWord);
      CHECK(pair.rank_1.host().now().ps == 10'946'200);
      ++word;
      pair.rank_1.send(Rank{0}, &word, kWord);
    });
    pair.world.engine.run();
    const EthernetCounters seen = pair.world.network.counters();
    CHECK(seen.interrupts == 2);
    CHECK(seen.packets == 2);
    CHECK(seen.datagrams == 2);
    CHECK(seen.overflow_drops + seen.ring_drops + seen.incomplete == 0);
  }
}

TEST_CASE("large_datagram_travels_in_fragments_in_its_golden_time") {
  for (const bool strict : {false, true}) {
    Pair pair({.strict = strict});
    constexpr Bytes bytes = 65'000;
    pair.world.engine.start(Rank{0}, [&] {
      std::vector<std::byte> data(bytes);
      write_pattern(data.data(), bytes, 1);
      pair.rank_0.send(Rank{1}, data.data(), bytes);
      CHECK(pair.rank_0.host().now().ps == 58'010'000);
    });
    pair.world.engine.start(Rank{1}, [&] {
      std::vector<std::byte> data(bytes);
      CHECK(pair.rank_1.receive(data.data(), bytes) == bytes);
      CHECK(pair.rank_1.host().now().ps == 576'751'000);
      CHECK(has_pattern(data.data(), bytes, 1));
    });
    pair.world.engine.run();
    CHECK(pair.world.network.counters().packets == 44);
    CHECK(pair.world.network.counters().interrupts == 44);
    CHECK(pair.world.network.counters().datagrams == 1);
  }
}

TEST_CASE("sleeping_receiver_pays_its_wake_up") {
  Pair pair({}, {}, Waiting::sleep);
  pair.world.engine.start(Rank{0}, [&] {
    const std::uint64_t word = 1;
    pair.rank_0.send(Rank{1}, &word, kWord);
  });
  pair.world.engine.start(Rank{1}, [&] {
    std::uint64_t word = 0;
    CHECK(pair.rank_1.receive(&word, kWord) == kWord);
    CHECK(pair.rank_1.host().now().ps == 13'696'200);
  });
  pair.world.engine.run();
}

TEST_CASE("node_mates_need_no_card") {
  World world({.ranks = 4});
  RawSocket rank_0(world.network, Rank{0}, 4);
  RawSocket rank_1(world.network, Rank{1}, 4);
  constexpr Bytes bytes = 65'507;
  world.engine.start(Rank{0}, [&] {
    const std::vector<std::byte> data(bytes);
    rank_0.send(Rank{1}, data.data(), kWord);
    rank_0.send(Rank{1}, data.data(), bytes);
  });
  world.engine.start(Rank{1}, [&] {
    std::vector<std::byte> data(bytes);
    CHECK(rank_1.receive(data.data(), bytes) == kWord);
    CHECK(rank_1.host().now().ps == 4'273'200);
    CHECK(rank_1.receive(data.data(), bytes) == bytes);
  });
  world.engine.run();
  CHECK(world.network.counters().packets == 0);
  CHECK(world.network.counters().datagrams == 2);
}

TEST_CASE("interrupts_are_moderated_and_a_busy_kernel_needs_none") {
  EthernetParameters parameters;
  parameters.moderation = {50'000'000};
  Pair pair({}, parameters);
  constexpr unsigned count = 10;
  pair.world.engine.start(Rank{0}, [&] {
    const std::uint64_t word = 1;
    for (unsigned i = 0; i < count; ++i) pair.rank_0.send(Rank{1}, &word, kWord);
  });
  pair.world.engine.start(Rank{1}, [&] {
    std::uint64_t word = 0;
    (void)pair.rank_1.receive(&word, kWord);
    // As in the golden ping-pong, 50 us instead of 1 ns later.
    CHECK(pair.rank_1.host().now().ps == 60'945'200);
    for (unsigned i = 1; i < count; ++i) (void)pair.rank_1.receive(&word, kWord);
  });
  pair.world.engine.run();
  CHECK(pair.world.network.counters().interrupts == 1);
}

TEST_CASE("what_a_full_receive_buffer_loses_is_counted") {
  EthernetParameters parameters;
  parameters.receive_buffer = 3 * (kWord + kBookkeeping);
  Pair pair({}, parameters);
  pair.world.engine.start(Rank{0}, [&] {
    for (std::uint64_t i = 0; i < 5; ++i) pair.rank_0.send(Rank{1}, &i, kWord);
  });
  pair.world.engine.start(Rank{1}, [&] {
    pair.rank_1.host().spend({1'000'000'000});  // late
    std::uint64_t word = 9;
    for (std::uint64_t i = 0; i < 3; ++i) {
      CHECK(pair.rank_1.receive(&word, kWord) == kWord);
      CHECK(word == i);
    }
    CHECK(pair.rank_1.try_receive(&word, kWord) == 0);
  });
  pair.world.engine.run();
  CHECK(pair.world.network.counters().datagrams == 5);
  CHECK(pair.world.network.counters().overflow_drops == 2);
}

TEST_CASE("datagram_that_loses_a_packet_is_lost_as_a_whole") {
  EthernetParameters parameters;
  parameters.link.per_byte_fs = 100'000;  // ten times as fast as the kernel takes packets in
  parameters.fragment = {10'000};
  parameters.ring = 8;
  Pair pair({}, parameters);
  constexpr Bytes bytes = 65'000;
  pair.world.engine.start(Rank{0}, [&] {
    std::vector<std::byte> data(bytes);
    pair.rank_0.send(Rank{1}, data.data(), bytes);
    pair.rank_0.host().spend({1'000'000'000});
    write_pattern(data.data(), 5'000, 3);
    pair.rank_0.send(Rank{1}, data.data(), 5'000);  // four packets
  });
  pair.world.engine.start(Rank{1}, [&] {
    std::vector<std::byte> data(bytes);
    CHECK(pair.rank_1.receive(data.data(), bytes) == 5'000);
    CHECK(has_pattern(data.data(), 5'000, 3));
  });
  pair.world.engine.run();
  const EthernetCounters seen = pair.world.network.counters();
  CHECK(seen.packets == 48);
  CHECK(seen.ring_drops > 0);
  CHECK(seen.incomplete == 1);
  CHECK(seen.datagrams == 1);
}

TEST_CASE("full_send_buffer_refuses_and_wakes_when_packets_have_left") {
  EthernetParameters parameters;
  parameters.send_buffer = 4'000;
  Pair pair({}, parameters);
  constexpr Bytes bytes = 3'000;
  pair.world.engine.start(Rank{0}, [&] {
    EthernetSocket& socket = pair.world.network.socket(Rank{0});
    std::vector<std::byte> data(bytes);
    const iovec part{data.data(), bytes};
    REQUIRE(socket.send(Rank{1}, {&part, 1}));
    const SimTime before = socket.host().now();
    CHECK_FALSE(socket.send(Rank{1}, {&part, 1}));
    CHECK(socket.host().now() == before);
    pair.rank_0.send(Rank{1}, data.data(), bytes);
    // Three packets of 3000 + 8 + 3 x 58 bytes in total leave the card first. Two of them have 1538 B, at 8 ns a
    // byte.
    CHECK(socket.host().now().ps > before.ps + 2 * 12'304'000 - 2'000'000);
  });
  pair.world.engine.start(Rank{1}, [&] {
    std::vector<std::byte> data(bytes);
    CHECK(pair.rank_1.receive(data.data(), bytes) == bytes);
    CHECK(pair.rank_1.receive(data.data(), bytes) == bytes);
  });
  pair.world.engine.run();
}

// Check that every datagram arrives whole and once, in order for each pair. Return times, which must depend neither on
// threads nor on strictness.
std::vector<std::int64_t> exchange(const Shape& shape, std::uint32_t seed) {
  World world(shape);
  std::vector<std::unique_ptr<RawSocket>> sockets;
  for (unsigned rank = 0; rank < shape.ranks; ++rank) {
    sockets.push_back(std::make_unique<RawSocket>(world.network, Rank{rank}, shape.ranks));
  }
  std::vector<std::int64_t> ends(shape.ranks);
  constexpr unsigned count = 40;  // a longer row would overrun a receiver
  for (unsigned rank = 0; rank < shape.ranks; ++rank) {
    world.engine.start(Rank{rank}, [&, rank] {
      RawSocket& socket = *sockets[rank];
      std::mt19937 random(100 * seed + rank);
      std::vector<std::byte> data(65'507);
      std::map<std::uint32_t, std::uint32_t> expected;
      unsigned received = 0;
      const auto take = [&] {
        std::vector<std::byte> into(65'507);
        const Bytes bytes = socket.try_receive(into.data(), into.size());
        if (bytes == 0) return false;
        std::array<std::uint32_t, 2> head{};  // source, number
        std::memcpy(head.data(), into.data(), sizeof head);
        CHECK(head[1] == expected[head[0]]++);
        CHECK(has_pattern(into.data() + sizeof head, bytes - sizeof head, 1000 * head[0] + head[1]));
        ++received;
        return true;
      };
      for (std::uint32_t i = 0; i < count; ++i) {
        const Bytes bytes = random() % 3 == 0 ? 8 + random() % 65'000 : 8 + random() % 1'600;
        const std::array<std::uint32_t, 2> head{rank, i};
        std::memcpy(data.data(), head.data(), sizeof head);
        write_pattern(data.data() + sizeof head, bytes - sizeof head, 1000 * rank + i);
        socket.send(Rank{(rank + 1) % shape.ranks}, data.data(), bytes);
        (void)take();
      }
      while (received != count) {
        if (!take()) socket.host().idle(kNever);
      }
      socket.barrier();
      ends[rank] = socket.host().now().ps;
    });
  }
  world.engine.run();
  CHECK(world.network.counters().datagrams > shape.ranks * count);
  CHECK(world.network.counters().overflow_drops + world.network.counters().ring_drops == 0);
  return ends;
}

TEST_CASE("datagrams_of_any_size_come_whole_once_and_in_order") {
  for (const std::string topology : {"crossbar:3", "fat-tree:2x2"}) {
    CAPTURE(topology);
    for (std::uint32_t seed = 0; seed < gasmeter::testing::rounds(1); ++seed) {
      CAPTURE(seed);
      const std::vector<std::int64_t> lazy = exchange({.ranks = 6, .topology = topology}, seed);
      CHECK(lazy == exchange({.ranks = 6, .topology = topology, .strict = true}, seed));
      CHECK(lazy == exchange({.ranks = 6, .topology = topology, .threads = 2}, seed));
    }
  }
}

// Eight bytes more always cost the same time. The phase of a waiting rank's polls must not show.
TEST_CASE("waits_make_no_steps_over_sizes") {
  std::vector<std::int64_t> times;
  for (Bytes bytes = 64; bytes <= 512; bytes += 8) {
    Pair pair;
    pair.world.engine.start(Rank{0}, [&] {
      std::vector<std::byte> data(bytes);
      for (int i = 0; i < 3; ++i) {
        pair.rank_0.send(Rank{1}, data.data(), bytes);
        (void)pair.rank_0.receive(data.data(), bytes);
      }
      times.push_back(pair.rank_0.host().now().ps);
    });
    pair.world.engine.start(Rank{1}, [&] {
      std::vector<std::byte> data(bytes);
      for (int i = 0; i < 3; ++i) {
        (void)pair.rank_1.receive(data.data(), bytes);
        pair.rank_1.send(Rank{0}, data.data(), bytes);
      }
    });
    pair.world.engine.run();
  }
  // Each of six messages has 8 bytes more, on two cut-through links and in two copies.
  for (std::size_t i = 1; i < times.size(); ++i) CHECK(times[i] - times[i - 1] == 6 * (8 * 8'000 + 2 * 8 * 200));
}

TEST_CASE("impossible_parameters_and_places_are_refused") {
  EthernetParameters parameters;
  parameters.mtu = 500;
  CHECK_THROWS_AS((void)World(Shape{}, parameters), UsageError);
  parameters.mtu = 65'500;
  CHECK_THROWS_AS((void)World(Shape{}, parameters), UsageError);
  sim::EngineOptions options = World::options({});
  options.node_of = {0, 2};  // the switch
  sim::Engine engine(options);
  CHECK_THROWS_AS((void)EthernetNetwork(engine, sim::Topology::parse("crossbar:2")), UsageError);
}

}  // namespace
}  // namespace gasmeter::networks::ethernet::ethernet_test
