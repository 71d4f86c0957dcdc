// Long transfers that pass at once give the same results as packet by packet.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gasmeter/base/error.hpp"
#include "gasmeter/networks/extoll/extoll_conduit.hpp"
#include "gasmeter/sim/trace/tracer.hpp"
#include "rma_traffic.hpp"
#include "support/model_world.hpp"
#include "support/pattern.hpp"

namespace gasmeter::networks::extoll::fast_forward_test {
namespace {

using namespace testing;
using gasmeter::testing::has_pattern;
using gasmeter::testing::write_pattern;

constexpr Bytes kMiB = 1U << 20U;

// Links and cards of a machine whose packets take no round time anywhere.
ExtollParameters uneven() {
  ExtollParameters p;
  p.link = {1'600'000, {270'000}, 16};
  p.header = 28;
  p.host_link_per_byte_fs = 625'000;
  p.host_read = {350'000};
  p.notification_slots = 512;
  return p;
}

TEST_CASE("random_traffic_comes_to_the_same_as_packet_by_packet") {
  std::uint64_t events = 0;
  std::uint64_t events_one_by_one = 0;
  for (const char* topology : {"mesh2d:2x1", "mesh2d:3x3", "torus3d:4x2x2", "crossbar:5", "fat-tree:2x2"}) {
    CAPTURE(topology);
    for (std::uint64_t seed = 100; seed < 108; ++seed) {
      CAPTURE(seed);
      RmaTrafficOptions options;
      options.topology = topology;
      options.seed = seed;
      options.ranks_per_node = 1 + static_cast<unsigned>(seed % 2);
      options.active = 1 + static_cast<unsigned>(seed % 4);
      options.pauses = static_cast<unsigned>(seed % 3) * 3;
      if (seed % 3 != 0) options.parameters = uneven();
      options.parameters.link.buffer = std::array{16U, 3U, 0U, 5U}[seed % 4];
      options.threads = 1 + static_cast<unsigned>(seed % 3);
      RmaTrafficOptions one_by_one = options;
      one_by_one.fast_forward = false;
      const RmaTrafficOutcome outcome = RmaTraffic(options).run();
      const RmaTrafficOutcome expected = RmaTraffic(one_by_one).run();
      CHECK(outcome.ends == expected.ends);
      CHECK(outcome.logs == expected.logs);
      CHECK(outcome.memories == expected.memories);
      CHECK(outcome.counters == expected.counters);
      CHECK(outcome.links == expected.links);
      CHECK(outcome.blocks == expected.blocks);
      events += outcome.events;
      events_one_by_one += expected.events;
    }
  }
  CHECK(events < events_one_by_one * 2 / 3);
}

// Memory of some ranks, registered at no price.
struct LongWorld : World {
  LongWorld(const Shape& shape, Bytes bytes, const ExtollParameters& parameters = uneven())
      : World(shape, parameters), memory(shape.ranks, std::vector<std::byte>(bytes)) {
    for (unsigned rank = 0; rank < shape.ranks; ++rank) port(rank).register_memory(memory[rank]);
  }
  std::byte* at(unsigned rank, Bytes offset = 0) { return memory[rank].data() + offset; }
  // Notifications tell both sides of the end.
  void put(unsigned from, unsigned to, Bytes bytes) {
    CHECK(port(from).rma_put(Rank{to}, at(to), at(from), bytes, Notify::requester | Notify::completer) == Status::ok);
  }
  [[nodiscard]] std::vector<std::uint64_t> use() {
    std::vector<std::uint64_t> all;
    for (const sim::LinkUse& link : network.fabric().use()) {
      for (const std::uint64_t value :
           {link.packets, link.bytes, static_cast<std::uint64_t>(link.longest_wait.ps), link.blocked}) {
        all.push_back(value);
      }
    }
    return all;
  }
  std::vector<std::vector<std::byte>> memory;
};

TEST_CASE("events_of_a_long_put_do_not_grow_with_its_length") {
  const auto events_of = [](Bytes bytes, bool fast_forward) {
    LongWorld world({.ranks = 64, .topology = "mesh3d:4x4x4", .fast_forward = fast_forward}, bytes);
    write_pattern(world.at(0), bytes, 1);
    world.engine.start(Rank{0}, [&] {
      world.put(0, 63, bytes);
      (void)wait_for_notification(world.port(0), world.host(0));
    });
    world.engine.start(Rank{63}, [&] { (void)wait_for_notification(world.port(63), world.host(63)); });
    world.engine.run();
    CHECK(has_pattern(world.at(63), bytes, 1));
    return world.engine.counters().events;
  };
  CHECK(events_of(kMiB, false) >= 12 * 4096);
  CHECK(events_of(kMiB, true) < 400);
  CHECK(events_of(4 * kMiB, true) < 400);
}

// Sleep until `end`. Only events that a poll would see wake the rank.
void rest_until(sim::ModelHost host, SimTime end) {
  while (host.now() < end) host.idle(end, {.at_polls_alone = true});
}

struct Seen {
  std::vector<std::int64_t> times;
  std::vector<std::uint64_t> use;
  std::uint64_t events = 0;
  [[nodiscard]] bool is_as(const Seen& other) const { return times == other.times && use == other.use; }
};

// run(fast_forward) must give the same results either way. Transfers that pass at once must take fewer events, by a
// factor of `times` at least.
template <class Run>
void check_passes(const Run& run, std::uint64_t times = 1) {
  const Seen one_by_one = run(false);
  const Seen seen = run(true);
  CHECK(seen.is_as(one_by_one));
  CHECK(seen.events < one_by_one.events / times);
}

// While a put is under way, three operations begin at some time. The operations are a small message to the target, one
// over a link of the put's path, and a get of the target's.
TEST_CASE("what_disturbs_a_put_comes_to_the_same_at_every_instant") {
  constexpr Bytes kBytes = 128 * 1024;
  const auto run = [](bool fast_forward, std::int64_t at) {
    LongWorld world({.ranks = 4, .topology = "mesh2d:4x1", .fast_forward = fast_forward}, 2 * kBytes);
    Seen seen;
    world.engine.start(Rank{0}, [&] {
      world.put(0, 2, kBytes);
      (void)wait_for_notification(world.port(0), world.host(0));
      seen.times.push_back(world.host(0).now().ps);
    });
    world.engine.start(Rank{1}, [&] {
      sleep_until(world.host(1), {at});
      send(world.port(1), world.host(1), 2, std::span(world.memory[1]).first(8));
      send(world.port(1), world.host(1), 3, std::span(world.memory[1]).first(16));
    });
    world.engine.start(Rank{2}, [&] {
      for (int taken = 0; taken < 2;) {
        if (world.port(2).mailbox_next() != nullptr) {
          world.port(2).mailbox_free();
          ++taken;
        } else if (world.port(2).notification_next()) {
          ++taken;
        } else {
          world.host(2).idle(kNever, {.at_polls_alone = true});
          continue;
        }
        seen.times.push_back(world.host(2).now().ps);
      }
    });
    world.engine.start(Rank{3}, [&] {
      (void)wait_for_packet(world.port(3), world.host(3));
      seen.times.push_back(world.host(3).now().ps);
      CHECK(world.port(3).rma_get(Rank{2}, world.at(3), world.at(2, kBytes), 4096, Notify::completer) == Status::ok);
      (void)wait_for_notification(world.port(3), world.host(3));
      seen.times.push_back(world.host(3).now().ps);
    });
    world.engine.run();
    seen.use = world.use();
    seen.events = world.engine.counters().events;
    return seen;
  };
  // The instants cover more than a packet's time in odd steps: early, in the middle and near the end.
  for (const std::int64_t begin : {0, 3'000'000, 120'000'000, 225'000'000}) {
    for (std::int64_t at = begin; at < begin + 1'000'000; at += 45'433) {
      CAPTURE(at);
      check_passes([&](bool fast_forward) { return run(fast_forward, at); });
    }
  }
}

TEST_CASE("transfers_that_share_links_cards_and_nodes_pass_at_once_together") {
  constexpr Bytes kBytes = 512 * 1024;
  const auto run = [](bool fast_forward, unsigned buffer, unsigned kind) {
    ExtollParameters parameters = uneven();
    parameters.link.buffer = buffer;
    LongWorld world({.ranks = 6, .topology = "ring:6", .fast_forward = fast_forward}, kBytes * 6, parameters);
    Seen seen;
    for (unsigned from = 0; from < 6; ++from) {
      const unsigned to = kind == 0 ? (from + 1) % 6 : kind == 1 ? 5 - from : 5;
      const bool gets = kind == 3;
      if (from == to || (kind == 3 && from % 2 != 0)) continue;
      write_pattern(world.at(from), kBytes, from);
      world.engine.start(Rank{from}, [&world, &seen, from, to, gets] {
        std::byte* const target = world.at(to, kBytes * from);
        if (gets) {
          CHECK(world.port(from).rma_get(Rank{to}, world.at(from), target, kBytes, Notify::completer) == Status::ok);
        } else {
          CHECK(world.port(from).rma_put(Rank{to}, target + (from == 0 ? kBytes : 0), world.at(from), kBytes,
                                         Notify::requester) == Status::ok);
        }
        (void)wait_for_notification(world.port(from), world.host(from));
        seen.times.push_back(world.host(from).now().ps);
      });
    }
    world.engine.run();
    std::sort(seen.times.begin(), seen.times.end());
    seen.use = world.use();
    seen.events = world.engine.counters().events;
    return seen;
  };
  for (unsigned kind = 0; kind < 4; ++kind) {
    CAPTURE(kind);
    for (const unsigned buffer : {0U, 2U, 16U}) {
      CAPTURE(buffer);
      const Seen one_by_one = run(false, buffer, kind);
      const Seen seen = run(true, buffer, kind);
      CHECK(seen.is_as(one_by_one));
      // Without a limit, queues grow while more packets come than go. The state does not repeat until that is over.
      const bool comes_round = kind != 2 && (buffer != 0 || kind == 0);
      CHECK(seen.events < (comes_round ? one_by_one.events / 3 : one_by_one.events + 1));
    }
  }
}

// A reader finds the memory as it is at that time, even if another rank changes it against the rules. The same holds
// for data that have arrived.
TEST_CASE("who_looks_or_writes_in_between_finds_what_is_there") {
  constexpr Bytes kBytes = 256 * 1024;
  const auto run = [](bool fast_forward, std::int64_t at) {
    LongWorld world({.fast_forward = fast_forward}, kBytes);
    Seen seen;
    write_pattern(world.at(0), kBytes, 7);
    world.engine.start(Rank{0}, [&] {
      world.put(0, 1, kBytes);
      sleep_until(world.host(0), {at});
      world.host(0).synchronise();
      std::fill(world.memory[0].begin(), world.memory[0].end(), std::byte{0xff});
    });
    world.engine.start(Rank{1}, [&] {
      sleep_until(world.host(1), {at + 100'000'000});
      world.host(1).synchronise();
      seen.times.push_back(std::count(world.memory[1].begin(), world.memory[1].end(), std::byte{0}));
      (void)wait_for_notification(world.port(1), world.host(1));
      seen.times.push_back(world.host(1).now().ps);
      seen.times.push_back(std::count(world.memory[1].begin(), world.memory[1].end(), std::byte{0xff}));
    });
    world.engine.run();
    seen.events = world.engine.counters().events;
    return seen;
  };
  for (std::int64_t at = 50'000'000; at < 250'000'000; at += 13'333'333) {
    CAPTURE(at);
    check_passes([&](bool fast_forward) { return run(fast_forward, at); });
  }
}

// The owner writes a source while the card reads it. Bytes that the card has read arrive as they were. The links are
// long enough for the state to repeat while those packets are still under way.
TEST_CASE("packets_that_were_read_before_their_source_changed_carry_what_was_there") {
  constexpr Bytes kBytes = 128 * 1024;
  ExtollParameters machine = uneven();
  machine.link.latency = {8'000'000};
  machine.link.buffer = 0;
  const auto run = [&machine](bool fast_forward, bool is_put, std::int64_t at) {
    LongWorld world({.topology = "mesh2d:2x1", .fast_forward = fast_forward}, kBytes, machine);
    Seen seen;
    world.engine.start(Rank{0}, [&] {
      if (is_put) world.put(0, 1, kBytes);
      sleep_until(world.host(0), {at});
      world.host(0).synchronise();
      std::fill(world.memory[0].begin(), world.memory[0].end(), std::byte{0xff});
    });
    world.engine.start(Rank{1}, [&] {
      if (!is_put) {
        CHECK(world.port(1).rma_get(Rank{0}, world.at(1), world.at(0), kBytes, Notify::completer) == Status::ok);
      }
      (void)wait_for_notification(world.port(1), world.host(1));
      seen.times = {world.host(1).now().ps, std::count(world.memory[1].begin(), world.memory[1].end(), std::byte{0})};
    });
    world.engine.run();
    seen.events = world.engine.counters().events;
    return seen;
  };
  for (const bool is_put : {true, false}) {
    CAPTURE(is_put);
    for (std::int64_t at = 30'000'000; at < 90'000'000; at += 1'333'333) {
      CAPTURE(at);
      check_passes([&](bool fast_forward) { return run(fast_forward, is_put, at); });
    }
  }
}

// A rank that gives no hint is woken by each packet. A rank that names memory is woken by writes to that memory.
TEST_CASE("ranks_that_watch_memory_are_woken_in_time") {
  constexpr Bytes kBytes = 256 * 1024;
  const auto run = [](bool fast_forward, const sim::Looks& looks, Bytes watched) {
    LongWorld world({.fast_forward = fast_forward}, kBytes);
    Seen seen;
    write_pattern(world.at(0), kBytes, 3);
    *world.at(0, watched) = std::byte{0xa5};
    world.engine.start(Rank{0}, [&] { world.put(0, 1, kBytes); });
    world.engine.start(Rank{1}, [&] {
      sim::Looks own = looks;
      if (own.bytes != 0) own.memory = world.at(1, watched);
      while (*world.at(1, watched) != std::byte{0xa5}) world.host(1).idle(kNever, own);
      seen.times.push_back(world.host(1).now().ps);
    });
    world.engine.run();
    seen.events = world.engine.counters().events;
    return seen;
  };
  for (const Bytes watched : {Bytes{100}, kBytes / 2, kBytes / 2 + 255, kBytes - 1}) {
    CAPTURE(watched);
    const Seen one_by_one = run(false, {}, watched);
    const Seen unnamed = run(true, {}, watched);
    CHECK(unnamed.is_as(one_by_one));
    CHECK(run(true, {.at_polls_alone = true, .bytes = 1}, watched).is_as(one_by_one));
  }
  CHECK(run(true, {.at_polls_alone = true, .bytes = 1}, kBytes - 1).events < run(true, {}, kBytes - 1).events / 3);
}

// Each unit in turn is the slowest, for puts and for a get.
TEST_CASE("each_unit_may_be_the_slowest_and_comes_to_the_same") {
  constexpr Bytes kBytes = 256 * 1024;
  std::vector<ExtollParameters> machines(6, uneven());
  machines[1].host_link_per_byte_fs = 2'500'001;
  machines[2].requester = machines[2].responder = {730'001};
  machines[3].completer = {450'001};
  machines[4].link.per_byte_fs = 3'100'001;
  machines[5].link.buffer = 2;
  machines[5].link.latency = {900'000};
  const auto run = [](bool fast_forward, const ExtollParameters& machine, bool is_put) {
    LongWorld world({.topology = "mesh2d:2x1", .fast_forward = fast_forward}, kBytes, machine);
    Seen seen;
    write_pattern(world.at(is_put ? 0 : 1), kBytes, 9);
    world.engine.start(Rank{0}, [&] {
      if (is_put) {
        world.put(0, 1, kBytes);
      } else {
        CHECK(world.port(0).rma_get(Rank{1}, world.at(0), world.at(1), kBytes, Notify::completer) == Status::ok);
      }
      (void)wait_for_notification(world.port(0), world.host(0));
      seen.times.push_back(world.host(0).now().ps);
    });
    world.engine.start(Rank{1}, [&] {
      if (is_put) (void)wait_for_notification(world.port(1), world.host(1));
    });
    world.engine.run();
    CHECK(has_pattern(world.at(is_put ? 1 : 0), kBytes, 9));
    seen.use = world.use();
    seen.events = world.engine.counters().events;
    return seen;
  };
  for (std::size_t machine = 0; machine < machines.size(); ++machine) {
    CAPTURE(machine);
    for (const bool is_put : {true, false}) {
      CAPTURE(is_put);
      check_passes([&](bool fast_forward) { return run(fast_forward, machines[machine], is_put); }, 3);
    }
  }
}

// Two streams out of one node need more HyperTransport than there is. The packets that wait for it repeat as well.
TEST_CASE("streams_that_wait_for_hypertransport_pass_at_once_together") {
  constexpr Bytes kBytes = 512 * 1024;
  ExtollParameters machine = uneven();
  machine.host_link_per_byte_fs = 1'000'000;
  const auto run = [&machine](bool fast_forward) {
    LongWorld world({.ranks = 3, .topology = "mesh2d:3x1", .fast_forward = fast_forward}, 2 * kBytes, machine);
    Seen seen;
    world.engine.start(Rank{1}, [&] {
      world.put(1, 0, kBytes);
      (void)wait_for_notification(world.port(1), world.host(1));
      seen.times.push_back(world.host(1).now().ps);
    });
    world.engine.start(Rank{2}, [&] {
      CHECK(world.port(2).rma_get(Rank{1}, world.at(2), world.at(1, kBytes), kBytes, Notify::completer) == Status::ok);
      (void)wait_for_notification(world.port(2), world.host(2));
      seen.times.push_back(world.host(2).now().ps);
    });
    world.engine.run();
    std::sort(seen.times.begin(), seen.times.end());
    seen.use = world.use();
    seen.events = world.engine.counters().events;
    return seen;
  };
  check_passes(run, 3);
  const std::int64_t by_the_link_to_the_card = 2 * static_cast<std::int64_t>(kBytes) * 1000;
  CHECK(run(true).times.back() > by_the_link_to_the_card);
}

// A get does not pass writes that arrived before it. From a node's own memory the get arrives before the next packet
// does.
TEST_CASE("a_get_behind_packets_that_have_passed_at_once_waits_for_their_writes") {
  constexpr Bytes kBytes = kMiB;
  ExtollParameters machine = uneven();
  machine.packet = 512;
  machine.completer = {863'000};  // as long as a packet takes on the link
  // `at` shifts the arrival of the packets within a period of the sender.
  const auto run = [&machine](bool fast_forward, std::int64_t at) {
    LongWorld world({.ranks = 3, .topology = "mesh2d:2x1", .fast_forward = fast_forward, .ranks_per_node = 2}, kBytes,
                    machine);
    Seen seen;
    world.engine.start(Rank{2}, [&] { world.put(2, 0, kBytes); });
    world.engine.start(Rank{1}, [&] {
      sleep_until(world.host(1), {at});
      CHECK(world.port(1).rma_get(Rank{0}, world.at(1), world.at(0), 64, Notify::completer) == Status::ok);
      (void)wait_for_notification(world.port(1), world.host(1));
      seen.times.push_back(world.host(1).now().ps);
    });
    world.engine.run();
    seen.use = world.use();
    seen.events = world.engine.counters().events;
    return seen;
  };
  for (const std::int64_t latency : {270'000, 490'000, 710'000}) {
    CAPTURE(latency);
    machine.link.latency = {latency};
    for (std::int64_t at = 800'000'000; at < 800'900'000; at += 40'007) {
      CAPTURE(at);
      check_passes([&](bool fast_forward) { return run(fast_forward, at); });
    }
  }
}

TEST_CASE("transfers_read_and_write_shared_memory_in_their_order") {
  constexpr Bytes kBytes = 256 * 1024;
  // Rank 1 sends on the bytes that rank 0 writes to it, or rank 2 also writes to rank 1, at a higher address.
  const auto run = [](bool fast_forward, bool sent_on, std::int64_t at) {
    LongWorld world({.ranks = 3, .topology = "ring:3", .fast_forward = fast_forward}, kBytes);
    std::fill(world.memory[0].begin(), world.memory[0].end(), std::byte{0xaa});
    std::fill(world.memory[2].begin(), world.memory[2].end(), std::byte{0x55});
    world.engine.start(Rank{0}, [&] { world.put(0, 1, kBytes); });
    const unsigned other = sent_on ? 1 : 2;
    world.engine.start(Rank{other}, [&] {
      rest_until(world.host(other), {at});
      if (sent_on) {
        world.put(1, 2, kBytes);
      } else {
        CHECK(world.port(2).rma_put(Rank{1}, world.at(1, kBytes / 8), world.at(2), kBytes / 8 * 7, Notify::none) ==
              Status::ok);
      }
      rest_until(world.host(other), {2'000'000'000});
    });
    world.engine.run();
    return world.memory;
  };
  for (const bool sent_on : {true, false}) {
    CAPTURE(sent_on);
    for (const std::int64_t at : {0, 700'000, 5'000'000, 40'000'000}) {
      CAPTURE(at);
      CHECK(run(true, sent_on, at) == run(false, sent_on, at));
    }
  }
}

TEST_CASE("a_rank_whose_looks_cost_something_is_woken_by_every_packet") {
  constexpr Bytes kBytes = 256 * 1024;
  const auto run = [](bool fast_forward) {
    LongWorld world({.fast_forward = fast_forward}, kBytes);
    Seen seen;
    unsigned looks = 0;
    world.engine.start(Rank{0}, [&] { world.put(0, 1, kBytes); });
    world.engine.start(Rank{1}, [&] {
      sim::ModelHost host = world.host(1);
      for (; !world.port(1).notification_next(); ++looks) {
        host.charge(conduit::PrivatePrice::call);
        host.idle(kNever, {.at_polls_alone = true});
      }
      seen.times = {host.now().ps, looks};
    });
    world.engine.run();
    return seen;
  };
  const Seen seen = run(true);
  CHECK(seen.is_as(run(false)));
  CHECK(seen.times[1] > 500);
}

// Refused calls are counted, and the rank tries again at every wake.
TEST_CASE("a_rank_that_has_been_refused_something_tries_again_at_every_packet") {
  constexpr Bytes kBytes = 256 * 1024;
  const auto commands = [](bool fast_forward) {
    LongWorld world({.ranks = 3, .topology = "ring:3", .fast_forward = fast_forward}, 2 * kBytes);
    world.engine.start(Rank{0}, [&] { world.put(0, 1, kBytes); });
    Seen seen;
    world.engine.start(Rank{1}, [&] {
      for (unsigned i = 0; i < ExtollPort::kRmaCommands + 1; ++i) {
        while (world.port(1).rma_put(Rank{2}, world.at(2), world.at(1, kBytes), kBytes, Notify::none) != Status::ok) {
          world.host(1).idle(kNever, {.at_polls_alone = true});
        }
      }
      seen.times = {world.host(1).now().ps, static_cast<std::int64_t>(world.port(1).counters().refused)};
    });
    world.engine.run();
    return seen;
  };
  const Seen refused = commands(true);
  CHECK(refused.is_as(commands(false)));
  CHECK(refused.times[1] > 500);

  // The mailbox of a node mate is full, and the card holds the packets that it has no room for.
  const auto packets = [](bool fast_forward) {
    LongWorld world({.ranks = 4, .fast_forward = fast_forward, .ranks_per_node = 2}, kBytes);
    constexpr unsigned kPackets = 100;
    world.port(3).hold_when_full();
    Seen seen;
    world.engine.start(Rank{0}, [&] { world.put(0, 2, kBytes); });
    world.engine.start(Rank{2}, [&] {
      for (unsigned i = 0; i < kPackets; ++i) {
        while (world.port(2).velo_send(Rank{3}, {}, 0) != Status::ok) {
          world.host(2).idle(kNever, {.at_polls_alone = true});
        }
      }
      seen.times = {world.host(2).now().ps, static_cast<std::int64_t>(world.port(2).counters().refused)};
    });
    world.engine.start(Rank{3}, [&] {
      rest_until(world.host(3), {300'000'000});
      for (unsigned i = 0; i < kPackets; ++i) {
        (void)wait_for_packet(world.port(3), world.host(3));
        world.port(3).mailbox_free();
      }
    });
    world.engine.run();
    return seen;
  };
  const Seen full = packets(true);
  CHECK(full.is_as(packets(false)));
  CHECK(full.times[1] > 500);
}

// Programs over the library, whose puts are commands of the RMA unit.
struct PutShape : gasmeter::testing::ModelShape {
  bool fast_forward = true;
};
class PutInstallation {
 public:
  static sim::EngineOptions options(const PutShape& shape) {
    return World::options({.ranks = shape.ranks, .fast_forward = shape.fast_forward});
  }
  PutInstallation(sim::Engine& engine, const PutShape& /*shape*/)
      : network_(engine, sim::Topology::parse("mesh2d:2x1"), uneven()) {}
  [[nodiscard]] std::unique_ptr<conduit::Conduit> conduit(sim::ModelHost host) {
    AmOptions options;
    options.rma_puts = true;
    return std::make_unique<ExtollConduit>(network_, host, host.rank(), options);
  }

 private:
  ExtollNetwork network_;
};

TEST_CASE("a_program_that_waits_for_bytes_sees_them_in_time_and_one_that_waits_for_an_event_lets_them_pass") {
  constexpr Bytes kBytes = 256 * 1024;
  constexpr Bytes kWatched = kBytes / 2 + kMostLong / 2;  // in the middle of a command's bytes
  const auto run = [](bool fast_forward, bool looks) {
    PutShape shape;
    shape.segment_bytes = kBytes;
    shape.fast_forward = fast_forward;
    gasmeter::testing::ModelWorldOn<PutInstallation, PutShape> world(shape);
    const std::vector<std::byte> source(kBytes, std::byte{0xa5});
    Seen seen;
    world.run([&](auto& endpoint) {
      if (endpoint.rank() == Rank{0}) {
        endpoint.put(Rank{1}, endpoint.segment(Rank{1}).address, source.data(), kBytes);
      } else if (looks) {
        const volatile std::byte* const byte = static_cast<const std::byte*>(endpoint.segment().address) + kWatched;
        endpoint.wait_until([byte] { return *byte == std::byte{0xa5}; });
      }
      seen.times.push_back(world.engine().host(endpoint.rank()).now().ps);
    });
    std::sort(seen.times.begin(), seen.times.end());
    seen.events = world.engine().counters().events;
    return seen;
  };
  for (const bool looks : {true, false}) CHECK(run(true, looks).is_as(run(false, looks)));
  CHECK(run(true, false).events < run(false, false).events / 3);
}

TEST_CASE("a_rank_that_computes_meets_what_it_would_have_met") {
  constexpr Bytes kBytes = 256 * 1024;
  const auto run = [](bool fast_forward) {
    LongWorld world({.fast_forward = fast_forward}, kBytes);
    Seen seen;
    world.engine.start(Rank{0}, [&] { world.put(0, 1, kBytes); });
    world.engine.start(Rank{1}, [&] {
      sim::ModelHost host = world.host(1);
      (void)host.work({40'000'000}, false);
      host.idle(kNever);  // a wake has come meanwhile
      seen.times.push_back(host.now().ps);
      (void)wait_for_notification(world.port(1), host);
      seen.times.push_back(host.now().ps);
      host.idle(host.now() + SimTime{1'000'000});
      seen.times.push_back(host.now().ps);
    });
    world.engine.run();
    seen.use = world.use();
    return seen;
  };
  CHECK(run(true).is_as(run(false)));
}

TEST_CASE("what_is_traced_happens_event_by_event") {
  const auto events = [](bool traced) {
    LongWorld world({}, kMiB);
    sim::Tracer tracer(2);
    if (traced) world.engine.trace(&tracer);
    world.engine.start(Rank{0}, [&] {
      world.put(0, 1, kMiB);
      (void)wait_for_notification(world.port(0), world.host(0));
    });
    world.engine.run();
    world.engine.trace(nullptr);
    return world.engine.counters().events;
  };
  CHECK(events(true) > 16'000);
  CHECK(events(false) < 400);
}

TEST_CASE("a_put_beyond_registered_memory_is_refused_where_it_gets_there") {
  for (const bool fast_forward : {false, true}) {
    LongWorld world({.fast_forward = fast_forward}, kMiB);
    world.engine.start(Rank{0}, [&] {
      CHECK(world.port(0).rma_put(Rank{1}, world.at(1, 128), world.at(0), kMiB, Notify::none) == Status::ok);
      sleep_until(world.host(0), {5'000'000'000});
    });
    CHECK_THROWS_WITH_AS(world.engine.run(),
                         "extoll: rank 0's transfer of 256 bytes reaches memory that rank 1 has not registered",
                         UsageError);
  }
}

}  // namespace
}  // namespace gasmeter::networks::extoll::fast_forward_test
