// Golden times: tests/golden/ideal.md has the sums.
#include "gasmeter/networks/ideal/ideal_network.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "gasmeter/base/error.hpp"

namespace gasmeter::networks::ideal::ideal_network_test {
namespace {

sim::EngineOptions options_for(unsigned ranks) {
  sim::EngineOptions options;
  options.ranks = ranks;
  options.nodes = ranks;
  options.prices = ideal_prices();
  return options;
}

PacketHandle wait_for_packet(IdealNic& nic, sim::ModelHost& host) {
  for (;;) {
    PacketHandle packet = nic.take();
    if (packet) return packet;
    host.idle(kNever);
  }
}

constexpr std::array<std::byte, 100> kHundred{};

struct Taken {
  std::int64_t at_ns;
  unsigned source;
  bool operator==(const Taken&) const = default;
};

std::vector<Taken> take_all(sim::Engine& engine, IdealNetwork& network, Rank self, int packets) {
  std::vector<Taken> taken;
  sim::ModelHost host = engine.host(self);
  for (int i = 0; i < packets; ++i) {
    const PacketHandle packet = wait_for_packet(network.nic(self), host);
    taken.push_back({host.now().ps / 1000, index(packet->source)});
  }
  return taken;
}

TEST_CASE("one_packet_costs_overheads_wire_and_latency") {
  sim::Engine engine(options_for(2));
  IdealNetwork network(engine);
  const std::uint64_t sent = 0x0123456789abcdefU;
  engine.start(Rank{0}, [&] {
    CHECK(network.nic(Rank{0}).try_send(Rank{1}, std::as_bytes(std::span(&sent, 1))) == Status::ok);
    CHECK(engine.host(Rank{0}).now().ps == 200'000);
  });
  engine.start(Rank{1}, [&] {
    sim::ModelHost host = engine.host(Rank{1});
    const PacketHandle packet = wait_for_packet(network.nic(Rank{1}), host);
    CHECK(host.now().ps == 1'410'000);
    std::uint64_t arrived = 0;
    CHECK(packet->size == sizeof arrived);
    std::memcpy(&arrived, packet->bytes.data(), sizeof arrived);
    CHECK(arrived == sent);
    CHECK(packet->source == Rank{0});
  });
  engine.run();
}

TEST_CASE("packets_back_to_back_keep_the_gap") {
  sim::Engine engine(options_for(2));
  IdealNetwork network(engine);
  std::vector<Taken> taken;
  engine.start(Rank{0}, [&] {
    for (int i = 0; i < 4; ++i) CHECK(network.nic(Rank{0}).try_send(Rank{1}, kHundred) == Status::ok);
    CHECK(engine.host(Rank{0}).now().ps == 800'000);
  });
  engine.start(Rank{1}, [&] { taken = take_all(engine, network, Rank{1}, 4); });
  engine.run();
  CHECK((taken == std::vector<Taken>{{1500, 0}, {1900, 0}, {2300, 0}, {2700, 0}}));
  CHECK(network.nic(Rank{0}).counters().sent == 4);
  CHECK(network.nic(Rank{0}).counters().bytes_sent == 400);
  CHECK(network.nic(Rank{1}).counters().taken == 4);
  CHECK(network.nic(Rank{1}).counters().deepest_queue == 1);
}

TEST_CASE("two_senders_share_the_receiving_nic") {
  sim::Engine engine(options_for(3));
  IdealNetwork network(engine);
  std::vector<Taken> taken;
  for (unsigned sender : {0U, 1U}) {
    engine.start(Rank{sender},
                 [&, sender] { CHECK(network.nic(Rank{sender}).try_send(Rank{2}, kHundred) == Status::ok); });
  }
  engine.start(Rank{2}, [&] { taken = take_all(engine, network, Rank{2}, 2); });
  engine.run();
  CHECK((taken == std::vector<Taken>{{1500, 0}, {1900, 1}}));
}

TEST_CASE("without_a_send_slot_a_packet_is_refused_and_the_rank_woken_when_one_is_free") {
  sim::Engine engine(options_for(2));
  IdealNetwork network(engine, {.send_slots = 2, .reply_slots = 0});
  engine.start(Rank{0}, [&] {
    sim::ModelHost host = engine.host(Rank{0});
    IdealNic& nic = network.nic(Rank{0});
    for (int i = 0; i < 3; ++i) CHECK(nic.try_send(Rank{1}, kHundred) == Status::ok);
    CHECK(nic.try_send(Rank{1}, kHundred) == Status::no_resource);
    CHECK(host.now().ps == 600'000);
    host.idle(kNever);
    CHECK(host.now().ps == 700'000);
    CHECK(nic.try_send(Rank{1}, kHundred) == Status::ok);
    CHECK(host.now().ps == 900'000);
    CHECK(nic.counters().refused == 1);
  });
  engine.start(Rank{1}, [&] {
    const std::vector<Taken> taken = take_all(engine, network, Rank{1}, 4);
    CHECK(taken.back().at_ns == 2700);
  });
  engine.run();
}

TEST_CASE("packets_of_a_pair_arrive_in_order_and_whole_whatever_their_size") {
  sim::Engine engine(options_for(2));
  IdealNetwork network(engine);
  constexpr unsigned kPackets = 200;
  engine.start(Rank{0}, [&] {
    sim::ModelHost host = engine.host(Rank{0});
    for (unsigned i = 0; i < kPackets; ++i) {
      const std::vector<std::byte> bytes((i * 977) % kMaxPacketBytes + 1, static_cast<std::byte>(i));
      while (network.nic(Rank{0}).try_send(Rank{1}, bytes) != Status::ok) host.idle(kNever);
    }
  });
  engine.start(Rank{1}, [&] {
    sim::ModelHost host = engine.host(Rank{1});
    for (unsigned i = 0; i < kPackets; ++i) {
      const PacketHandle packet = wait_for_packet(network.nic(Rank{1}), host);
      CHECK(packet->size == (i * 977) % kMaxPacketBytes + 1);
      CHECK(packet->bytes[0] == static_cast<std::byte>(i));
      CHECK(packet->bytes[packet->size - 1] == static_cast<std::byte>(i));
    }
  });
  engine.run();
  CHECK(network.packets().made() <= 20);
}

TEST_CASE("misuse_of_the_network_is_named") {
  sim::Engine engine(options_for(2));
  CHECK_THROWS_AS(IdealNetwork(engine, {.send_slots = 4, .reply_slots = 4}), UsageError);
}

TEST_CASE("packet_to_nobody_or_too_large_is_refused_and_keeps_no_slot") {
  sim::Engine engine(options_for(1));
  IdealNetwork network(engine, {.send_slots = 1, .reply_slots = 0});
  engine.start(Rank{0}, [&] {
    IdealNic& nic = network.nic(Rank{0});
    const std::vector<std::byte> large(kMaxPacketBytes + 1);
    CHECK_THROWS_AS((void)nic.try_send(Rank{0}, large), UsageError);
    CHECK_THROWS_AS((void)nic.try_send(Rank{1}, kHundred), UsageError);
    CHECK(nic.try_send(Rank{0}, kHundred) == Status::ok);
  });
  engine.run();
}

TEST_CASE("network_may_end_before_bodies_that_hold_packets") {
  sim::Engine engine(options_for(1));
  std::optional<IdealNetwork> network;
  network.emplace(engine);
  engine.start(Rank{0}, [&] {
    const PacketHandle packet = network->nic(Rank{0}).try_reserve(kMaxPacketBytes);
    engine.park(Rank{0});
  });
  engine.run();
  network.reset();
  CHECK_THROWS_AS(engine.run(), UsageError);
}

TEST_CASE("packet_that_is_sent_has_room_for_its_bytes") {
  const std::vector<std::byte> bytes(kMaxPacketBytes);
  for (const Bytes sent : {PacketPool::kSmall, PacketPool::kSmall + 1, kMaxPacketBytes}) {
    CAPTURE(sent);
    sim::Engine engine(options_for(2));
    IdealNetwork network(engine);
    engine.start(Rank{0},
                 [&] { CHECK(network.nic(Rank{0}).try_send(Rank{1}, std::span(bytes).first(sent)) == Status::ok); });
    engine.start(Rank{1}, [&] {
      sim::ModelHost host = engine.host(Rank{1});
      const PacketHandle packet = wait_for_packet(network.nic(Rank{1}), host);
      CHECK(packet->size == sent);
      CHECK(packet->bytes.size() == (sent <= PacketPool::kSmall ? PacketPool::kSmall : kMaxPacketBytes));
    });
    engine.run();
  }
}

TEST_CASE("packets_are_as_large_as_what_they_are_to_hold_and_go_round_by_size") {
  PacketPool pool;
  const Packet* small = nullptr;
  const Packet* large = nullptr;
  {
    const PacketHandle first = pool.make(1);
    const PacketHandle second = pool.make(PacketPool::kSmall + 1);
    small = first.get();
    large = second.get();
    CHECK(first->bytes.size() == PacketPool::kSmall);
    CHECK(second->bytes.size() == kMaxPacketBytes);
    std::fill(second->bytes.begin(), second->bytes.end(), std::byte{7});
    std::fill(first->bytes.begin(), first->bytes.end(), std::byte{9});
    CHECK(second->bytes.front() == std::byte{7});
    CHECK(second->bytes.back() == std::byte{7});
  }
  CHECK(pool.make(kMaxPacketBytes).get() == large);
  CHECK(pool.make(PacketPool::kSmall).get() == small);
  CHECK(pool.made() == 2);
}

}  // namespace
}  // namespace gasmeter::networks::ideal::ideal_network_test
