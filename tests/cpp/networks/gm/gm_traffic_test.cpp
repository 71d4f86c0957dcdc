// Traffic on Myrinet: random messages, and streams at the speed of the slowest part.
#include <doctest/doctest.h>

#include <algorithm>
#include <optional>
#include <random>
#include <vector>

#include "gasmeter/base/random.hpp"
#include "networks/gm/world.hpp"
#include "support/effort.hpp"
#include "support/pattern.hpp"

namespace gasmeter::networks::gm::gm_traffic_test {
namespace {

using namespace testing;
using gasmeter::testing::has_pattern;
using gasmeter::testing::rounds;
using gasmeter::testing::seed_of;
using gasmeter::testing::write_pattern;

// Messages of a priority arrive in order, each once, for any sizes and any times of provision. The picoseconds are the
// same lazily, strictly and on two threads.

struct Observed {
  std::vector<std::int64_t> clocks;
  std::uint64_t no_receive = 0;
  bool operator==(const Observed&) const = default;
};

Observed random_traffic(Shape shape, std::uint64_t seed, std::uint32_t messages) {
  constexpr SizeClass kClass = 11;
  constexpr Bytes kMost = Bytes{1} << kClass;
  shape.ranks = 5;
  shape.topology = "fat-tree:2x2";
  shape.node_of = {0, 1, 1, 2, 3};
  const unsigned ranks = shape.ranks;
  World world(shape, {.send_tokens = 6, .receive_tokens = 3}, 8 * kMost);
  Observed result;
  result.clocks.resize(ranks);
  const auto size_of = [=](unsigned from, unsigned to, std::uint32_t i) {
    return splitmix64(seed_of(seed, from, to, i)) % most_bytes(kClass);
  };
  const auto priority_of = [=](unsigned from, unsigned to) {
    return (from + to) % 2 == 0 ? Priority::low : Priority::high;
  };
  for (unsigned rank = 0; rank < ranks; ++rank) {
    world.engine.start(Rank{rank}, [&, rank] {
      GmPort& port = world.port(rank);
      sim::ModelHost host = world.host(rank);
      std::mt19937_64 random(seed + rank);
      std::vector<std::uint32_t> next_out(ranks, 0);
      std::vector<std::uint32_t> next_in(ranks, 0);
      std::vector<std::uint32_t> left_in(kPriorities, 0);  // by priority
      for (unsigned from = 0; from < ranks; ++from) {
        left_in[static_cast<unsigned>(priority_of(from, rank))] += messages;
      }
      std::uint32_t left_out = messages * ranks;
      std::uint32_t under_way = 0;
      std::vector<SimTime> provides_at(kPriorities);
      std::vector<std::uint8_t> provided(kPriorities, 0);
      while (left_out + left_in[0] + left_in[1] + under_way != 0) {
        bool progress = false;
        SimTime next = kNever;
        for (unsigned p = 0; p < kPriorities; ++p) {
          if (left_in[p] == 0 || provided[p] != 0) continue;
          if (host.now() < provides_at[p]) {
            next = std::min(next, provides_at[p]);
            continue;
          }
          CHECK(port.provide_receive(world.receive_at(rank, p * kMost, kClass, static_cast<Priority>(p), p)) ==
                Status::ok);
          provided[p] = 1;
          progress = true;
        }
        if (const std::optional<Event> event = port.poll()) {
          progress = true;
          if (event->type == Event::Type::sent) {
            --under_way;
          } else {
            const unsigned from = index(event->peer);
            const unsigned p = static_cast<unsigned>(priority_of(from, rank));
            const std::uint32_t i = next_in[from]++;
            CHECK(event->id == p);
            CHECK(event->bytes == size_of(from, rank, i));
            CHECK(has_pattern(world.at(rank, p * kMost), event->bytes, seed_of(seed, from, rank, i)));
            provided[p] = 0;
            provides_at[p] = host.now() + SimTime{static_cast<std::int64_t>(random() % 8'000'000)};
            --left_in[p];
          }
        }
        if (left_out != 0 && under_way == 0) {
          const unsigned to = static_cast<unsigned>(random() % ranks);
          if (next_out[to] != messages) {
            const std::uint32_t i = next_out[to]++;
            const Bytes bytes = size_of(rank, to, i);
            write_pattern(world.at(rank, 4 * kMost), bytes, seed_of(seed, rank, to, i));
            CHECK(port.send(Rank{to}, world.at(rank, 4 * kMost), bytes, kClass, priority_of(rank, to), i) ==
                  Status::ok);
            ++under_way;
            --left_out;
          }
          progress = true;
        }
        if (!progress) host.idle(next == kNever ? kNever : std::max(next, host.now() + SimTime{1}));
      }
      result.clocks[rank] = host.now().ps;
    });
  }
  world.engine.run();
  for (unsigned rank = 0; rank < ranks; ++rank) result.no_receive += world.port(rank).counters().no_receive;
  return result;
}

TEST_CASE("gm_random_messages_arrive_once_in_order_whenever_receives_are_provided") {
  for (std::uint64_t seed = 1; seed <= rounds(8); ++seed) {
    CAPTURE(seed);
    const Observed lazy = random_traffic({}, seed, 12);
    CHECK(lazy.no_receive > 0);
    CHECK(lazy == random_traffic({.strict = true}, seed, 12));
    CHECK(lazy == random_traffic({.threads = 2}, seed, 12));
  }
}

// Packets of 256 B with 24 B of header on a link of 1 B a ns. Processor and DMA engine are faster.
TEST_CASE("gm_a_stream_runs_at_the_speed_of_the_slowest") {
  const auto ns_of = [](const GmParameters& parameters) {
    World world({}, parameters, 1U << 20U);
    double ns = 0;
    world.engine.start(Rank{0}, [&] {
      const SimTime start = world.host(0).now();
      CHECK(world.port(0).directed_send(Rank{1}, world.at(1), world.at(0), 1U << 20U, Priority::low, 0) == Status::ok);
      (void)wait_for_event(world.port(0), world.host(0));
      ns = (world.host(0).now() - start).ns();
    });
    world.engine.start(Rank{1}, [] {});
    world.engine.run();
    return ns;
  };
  constexpr double kPackets = (1 << 20) / 256.0;
  const auto is_near = [](double ns, double each) { return ns > kPackets * each && ns < 1.01 * kPackets * each; };
  CHECK(is_near(ns_of({.pci_per_byte_fs = 100'000, .packet = {100'000}}), 280));  // the link
  CHECK(is_near(ns_of({.pci_per_byte_fs = 100'000, .packet = {400'000}}), 400));  // the sender's processor
  CHECK(is_near(ns_of({.pci_per_byte_fs = 1'000'000, .packet = {200'000}, .dma_start = {50'000}}), 306));  // PCI
}

}  // namespace
}  // namespace gasmeter::networks::gm::gm_traffic_test
