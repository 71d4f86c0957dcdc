// Ranks of an EXTOLL installation that put, get and send at random. The result is a set of numbers.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "gasmeter/base/random.hpp"
#include "world.hpp"

namespace gasmeter::networks::extoll::testing {

struct RmaTrafficOptions {
  std::string topology;
  unsigned ranks_per_node = 1;
  unsigned threads = 1;
  bool strict = false;
  ExtollParameters parameters;
  unsigned operations = 12;  // of each rank, in each of two blocks
  Bytes largest = 1U << 20U;
  unsigned pauses = 1;  // eighths of the steps in which a rank pauses: 0 to 8
  bool fast_forward = true;
  unsigned active = 0;  // ranks that begin operations; 0: all
  std::uint64_t seed = 1;
};

// Results that must not depend on how the traffic is simulated.
struct RmaTrafficOutcome {
  std::vector<std::int64_t> ends;       // of each rank's bodies, ps
  std::vector<std::uint64_t> logs;      // by rank: hash of what the rank saw and when
  std::vector<std::uint64_t> memories;  // by rank: hash of its bytes
  std::vector<std::uint64_t> counters;  // by rank
  std::vector<std::uint64_t> links;     // by link, after each block
  std::vector<std::int64_t> blocks;     // ends, ps
  std::uint64_t events = 0;
  bool operator==(const RmaTrafficOutcome&) const = default;

  static std::uint64_t mixed(std::uint64_t hash, std::uint64_t value) {
    hash = (hash ^ value) * kGoldenGamma;
    return hash ^ (hash >> 29U);
  }
  // Digest of all modelled results.
  [[nodiscard]] std::uint64_t digest() const {
    std::uint64_t hash = 1;
    const auto add = [&hash](const auto& values) {
      for (const auto value : values) hash = mixed(hash, static_cast<std::uint64_t>(value));
    };
    add(ends);
    add(logs);
    add(memories);
    add(counters);
    add(links);
    add(blocks);
    return hash;
  }
};

class RmaTraffic {
 public:
  explicit RmaTraffic(const RmaTrafficOptions& options)
      : options_(options), world_(shape(options), options.parameters), ranks_(world_.engine.ranks()) {
    for (std::uint32_t rank = 0; rank < ranks_.size(); ++rank) {
      OfRank& state = ranks_[rank];
      state.memory.resize(3 * room());
      std::uint64_t word = splitmix64(options.seed * 1000 + rank);
      for (Bytes at = 0; at < room(); at += sizeof word) {
        word = splitmix64(word);
        std::memcpy(state.memory.data() + at, &word, sizeof word);
      }
      state.random.seed(static_cast<std::minstd_rand::result_type>(options.seed * 7919 + rank + 1));
      world_.port(rank).register_memory(state.memory);
    }
  }

  RmaTrafficOutcome run() {
    RmaTrafficOutcome outcome;
    for (int block = 0; block < 2; ++block) {
      for (std::uint32_t rank = 0; rank < ranks_.size(); ++rank) {
        world_.engine.start(Rank{rank}, [this, rank, block] { live(rank, block == 1); });
      }
      world_.engine.run();
      outcome.blocks.push_back(world_.engine.now().ps);
      for (const OfRank& rank : ranks_) outcome.ends.push_back(rank.end.ps);
      for (const sim::LinkUse& link : world_.network.fabric().use()) {
        for (const std::uint64_t value : {link.packets, link.bytes, static_cast<std::uint64_t>(link.longest_wait.ps),
                                          static_cast<std::uint64_t>(link.busy.ps), link.blocked}) {
          outcome.links.push_back(value);
        }
      }
      world_.network.fabric().reset_use();
    }
    for (std::uint32_t rank = 0; rank < ranks_.size(); ++rank) {
      outcome.logs.push_back(ranks_[rank].log);
      std::uint64_t hash = 1;
      for (Bytes at = 0; at < ranks_[rank].memory.size(); at += sizeof hash) {
        std::uint64_t word = 0;
        std::memcpy(&word, ranks_[rank].memory.data() + at, sizeof word);
        hash = RmaTrafficOutcome::mixed(hash, word);
      }
      outcome.memories.push_back(hash);
      const PortCounters& seen = world_.port(rank).counters();
      for (const std::uint64_t value :
           {seen.velo_sent, seen.velo_received, seen.velo_dropped, seen.velo_held, seen.most_held, seen.deepest_mailbox,
            seen.puts, seen.gets, seen.refused, seen.notifications, seen.held_back}) {
        outcome.counters.push_back(value);
      }
    }
    outcome.events = world_.engine.counters().events;
    return outcome;
  }

  World& world() { return world_; }

 private:
  static constexpr unsigned kMostOutstanding = 4;

  struct OfRank {
    std::vector<std::byte> memory;  // bytes to send, then places for puts of others, then places for gets
    std::minstd_rand random;
    unsigned outstanding = 0;
    std::uint64_t log = 1;
    SimTime end;
  };

  static Shape shape(const RmaTrafficOptions& options) {
    const sim::Topology topology = sim::Topology::parse(options.topology);
    Shape result;
    result.ranks = topology.terminals() * options.ranks_per_node;
    result.topology = options.topology;
    result.strict = options.strict;
    result.threads = options.threads;
    result.ranks_per_node = options.ranks_per_node;
    result.fast_forward = options.fast_forward;
    return result;
  }
  [[nodiscard]] Bytes room() const { return options_.largest + 4096; }

  void live(std::uint32_t rank, bool last) {
    OfRank& state = ranks_[rank];
    sim::ModelHost host = world_.host(rank);
    const bool acts = options_.active == 0 || rank < options_.active;
    for (unsigned i = 0; i < options_.operations && acts; ++i) {
      if (state.random() % 8 < options_.pauses) pause(rank);
      const auto peer = static_cast<std::uint32_t>(state.random() % ranks_.size());
      switch (state.random() % 8) {
        case 0:
        case 1:
        case 2:
        case 3:
          transfer(rank, peer, true);
          break;
        case 4:
        case 5:
          transfer(rank, peer, false);
          break;
        case 6:
          // Each number is drawn in a statement of its own, so that every compiler keeps the order.
          for (auto packets = state.random() % 20 + 1; packets != 0; --packets) {
            const Bytes size = state.random() % (options_.parameters.velo_payload + 1);
            const Bytes at = state.random() % 512;
            send(world_.port(rank), host, peer, std::span(state.memory).subspan(at, size),
                 static_cast<std::uint8_t>(i));
          }
          break;
        case 7: {
          // A reader sees the bytes as they are at this time.
          host.synchronise();
          const auto value = static_cast<std::byte>(state.random() % 256);
          const Bytes at = state.random() % options_.largest;
          std::fill_n(state.memory.begin() + static_cast<std::ptrdiff_t>(at), 4096, value);
          break;
        }
      }
      drain(rank);
    }
    if (last) {
      wait_for_less_than(rank, 1);
      rest_until(host, host.now() + SimTime{std::int64_t{200'000'000'000}});
      drain(rank);
    }
    state.end = host.now();
  }

  void pause(std::uint32_t rank) {
    OfRank& state = ranks_[rank];
    sim::ModelHost host = world_.host(rank);
    const std::int64_t longest = state.random() % 2 == 0 ? 20'000'000 : 2'000'000'000;
    rest_until(host, host.now() + SimTime{static_cast<std::int64_t>(state.random()) % longest});
  }

  void transfer(std::uint32_t rank, std::uint32_t peer, bool is_put) {
    OfRank& state = ranks_[rank];
    wait_for_less_than(rank, state.random() % kMostOutstanding + 1);
    const unsigned class_of_size = static_cast<unsigned>(state.random()) % 4;
    const Bytes most = class_of_size == 0   ? 256
                       : class_of_size == 1 ? std::min<Bytes>(16384, options_.largest)
                                            : options_.largest;
    const Bytes size = class_of_size == 3 ? most : state.random() % most + 1;
    const Bytes local = state.random() % (room() - size + 1);
    const Bytes remote = state.random() % (room() - size + 1);
    Notify notify = is_put ? Notify::requester : Notify::completer;
    if (state.random() % 2 == 0) notify = notify | (is_put ? Notify::completer : Notify::responder);
    ExtollPort& port = world_.port(rank);
    sim::ModelHost host = world_.host(rank);
    std::byte* const far = ranks_[peer].memory.data();
    while ((is_put ? port.rma_put(Rank{peer}, far + room() + remote, state.memory.data() + local, size, notify)
                   : port.rma_get(Rank{peer}, state.memory.data() + 2 * room() + local, far + remote, size, notify)) !=
           Status::ok) {
      host.idle(kNever);
    }
    ++state.outstanding;
  }

  void wait_for_less_than(std::uint32_t rank, unsigned outstanding) {
    OfRank& state = ranks_[rank];
    sim::ModelHost host = world_.host(rank);
    const bool looks_at_memory = state.random() % 4 == 0;
    while (true) {
      drain(rank);
      if (state.outstanding < outstanding) return;
      if (looks_at_memory) {
        host.idle(kNever);
        log(rank, static_cast<std::uint64_t>(host.now().ps));
        log(rank, static_cast<std::uint64_t>(state.memory[room() + state.random() % room()]));
      } else {
        wait_for_news(host);
      }
    }
  }
  // Sleep as a rank does that looks at its mailbox and notifications alone.
  static void wait_for_news(sim::ModelHost host) { host.idle(kNever, {.at_polls_alone = true}); }

  static void rest_until(sim::ModelHost host, SimTime end) {
    while (host.now() < end) host.idle(end, {.at_polls_alone = true});
  }

  // Take all packets and notifications that have arrived.
  void drain(std::uint32_t rank) {
    ExtollPort& port = world_.port(rank);
    sim::ModelHost host = world_.host(rank);
    OfRank& state = ranks_[rank];
    while (true) {
      if (const auto notification = port.notification_next()) {
        if (notification->kind == Notification::Kind::requester ||
            (notification->kind == Notification::Kind::completer &&
             notification->address >= state.memory.data() + 2 * room())) {
          --state.outstanding;
        }
        log(rank, static_cast<std::uint64_t>(host.now().ps));
        log(rank, static_cast<std::uint64_t>(notification->kind) << 32U | index(notification->peer));
        log(rank, notification->size);
        continue;
      }
      const VeloPacket* const packet = port.mailbox_next();
      if (packet == nullptr) return;
      log(rank, static_cast<std::uint64_t>(host.now().ps));
      log(rank, index(packet->status.source));
      for (unsigned i = 0; i < packet->status.size; ++i) log(rank, static_cast<std::uint64_t>(packet->payload[i]));
      port.mailbox_free();
    }
  }

  void log(std::uint32_t rank, std::uint64_t value) {
    ranks_[rank].log = RmaTrafficOutcome::mixed(ranks_[rank].log, value);
  }

  RmaTrafficOptions options_;
  World world_;
  std::vector<OfRank> ranks_;
};

}  // namespace gasmeter::networks::extoll::testing
