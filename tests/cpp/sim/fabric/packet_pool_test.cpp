#include "gasmeter/sim/fabric/packet_pool.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <set>
#include <span>
#include <thread>
#include <vector>

#include "gasmeter/sim/fabric/packet.hpp"
#include "support/effort.hpp"

namespace gasmeter::sim::packet_pool_test {
namespace {

using gasmeter::testing::rounds;

struct Marked : Packet {
  bool out = false;
  std::uint64_t content = 0;
};

TEST_CASE("a_pool_hands_out_different_packets") {
  PacketPool<Marked> pool(1);
  std::set<Marked*> out;
  for (int n = 0; n < 5000; ++n) {
    Marked* const packet = pool.take(0);
    CHECK(reinterpret_cast<std::uintptr_t>(packet) % alignof(Marked) == 0);
    packet->content = static_cast<std::uint64_t>(n);
    out.insert(packet);
  }
  CHECK(out.size() == 5000);
  CHECK(pool.made() >= 5000);
  std::set<std::uint64_t> contents;
  for (Marked* packet : out) contents.insert(packet->content);
  CHECK(contents.size() == 5000);
  for (Marked* packet : out) pool.give(0, packet);
}

TEST_CASE("packets_of_a_cache_line_start_at_one") {
  PacketPool<Packet> pool(1);
  for (int n = 0; n < 3000; ++n) CHECK(reinterpret_cast<std::uintptr_t>(pool.take(0)) % 64 == 0);
}

TEST_CASE("packets_are_made_in_rooms_while_there_are_any") {
  // Three rooms: for three packets (from its first cache line on), for none, for one.
  alignas(64) static std::array<std::byte, 3 * sizeof(Marked) + 64> three;
  alignas(64) static std::array<std::byte, sizeof(Marked) - 1> none;
  alignas(64) static std::array<std::byte, sizeof(Marked)> one;
  std::vector<std::span<std::byte>> rooms{one, none, std::span(three).subspan(8)};
  unsigned asked = 0;
  PacketPool<Marked> pool(2, [&](unsigned partition) -> std::span<std::byte> {
    CHECK(partition == 1);
    ++asked;
    if (rooms.empty()) return {};
    const std::span<std::byte> room = rooms.back();
    rooms.pop_back();
    return room;
  });
  const auto is_in = [](const Marked* packet, std::span<std::byte> room) {
    const auto* const first = reinterpret_cast<const std::byte*>(packet);
    return std::less_equal<>()(room.data(), first) &&
           std::less_equal<>()(first + sizeof(Marked), room.data() + room.size());
  };
  std::set<Marked*> out;
  for (int n = 0; n < 3; ++n) {
    out.insert(pool.take(1));
    CHECK(is_in(*out.rbegin(), three));
  }
  CHECK(asked == 1);
  out.insert(pool.take(1));  // a room without space is skipped for the pool's own memory
  CHECK(asked == 2);
  for (int n = 0; n < 100; ++n) out.insert(pool.take(1));
  CHECK(std::count_if(out.begin(), out.end(), [&](Marked* packet) { return is_in(packet, one); }) == 1);
  CHECK(out.size() == 104);
  CHECK(pool.made() >= out.size());
}

TEST_CASE("a_pool_makes_no_more_than_are_out") {
  PacketPool<Marked> pool(1);
  Marked* const first = pool.take(0);
  pool.give(0, first);
  const std::size_t made = pool.made();
  CHECK(made < 64);  // two ranks need few packets
  for (int n = 0; n < 10'000; ++n) pool.give(0, pool.take(0));
  CHECK(pool.made() == made);
  CHECK(pool.take(0) != nullptr);
}

// One partition only takes, the other only gives.
TEST_CASE("what_piles_up_in_one_partition_goes_back_to_another") {
  PacketPool<Marked> pool(2);
  for (int n = 0; n < 100'000; ++n) pool.give(1, pool.take(0));
  CHECK(pool.made() < 6000);
}

TEST_CASE("threads_exchange_packets") {
  constexpr unsigned kThreads = 3;
  PacketPool<Marked> pool(kThreads);
  struct Box {
    std::mutex mutex;
    std::vector<Marked*> packets;
  };
  std::vector<Box> boxes(kThreads);
  std::vector<std::uint64_t> wrong(kThreads);
  const std::uint64_t steps = rounds(200'000);
  std::vector<std::thread> threads;
  for (unsigned self = 0; self < kThreads; ++self) {
    threads.emplace_back([&, self] {
      // Thread 0 sends most, thread 2 hardly any.
      std::vector<Marked*> outgoing;
      for (std::uint64_t step = 0; step < steps; ++step) {
        if (step % (1 + 3 * self * self) == 0) {
          Marked* const packet = pool.take(self);
          if (packet->out) ++wrong[self];
          packet->out = true;
          packet->content = step;
          outgoing.push_back(packet);
        }
        if (step % 64 != 63) continue;
        {
          Box& box = boxes[(self + 1 + step / 64 % 2) % kThreads];
          const std::lock_guard guard(box.mutex);
          box.packets.insert(box.packets.end(), outgoing.begin(), outgoing.end());
        }
        outgoing.clear();
        std::vector<Marked*> incoming;
        {
          const std::lock_guard guard(boxes[self].mutex);
          incoming.swap(boxes[self].packets);
        }
        for (Marked* packet : incoming) {
          if (!packet->out) ++wrong[self];
          packet->out = false;
          pool.give(self, packet);
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == std::vector<std::uint64_t>(kThreads));
}

}  // namespace
}  // namespace gasmeter::sim::packet_pool_test
