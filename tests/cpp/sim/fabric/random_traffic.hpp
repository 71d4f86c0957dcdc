// Ranks as fibres that send one another random packets, each answered by an acknowledgement.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "fabric_trace.hpp"
#include "gasmeter/base/random.hpp"
#include "gasmeter/sim/engine/model_host.hpp"
#include "gasmeter/sim/fabric/fabric.hpp"
#include "gasmeter/sim/fabric/packet_pool.hpp"
#include "sim/engine/prices.hpp"

namespace gasmeter::sim::testing {

struct TrafficOptions {
  std::string topology;
  unsigned buffer = 0;
  unsigned ranks_per_node = 1;
  unsigned threads = 1;
  bool strict = false;
  FibreMaker fibres = FibreMaker::automatic;
  std::uint64_t messages = 50;  // by each rank
  unsigned outstanding = 16;
  SimTime latency{300'000};
  std::int64_t per_byte_fs = 1'600'000;
  std::map<std::string, LinkParameters> classes;
  std::uint64_t seed = 1;
  bool traced = false;
  bool step_by_step = false;  // every packet is an action on each of its nodes
  bool hot_spot = false;      // all packets go to rank 0
  bool unordered = false;     // packets choose their ways, where there are several
  unsigned flows = 1;         // by pair of ranks, if packets are ordered
  bool in_step = false;       // packets of 100 bytes at multiples of their time on a link: many events share an instant
  unsigned parks = 0;         // further blocks of each rank, with its packets under way
};

// Results that must not depend on threads or on how far ranks run ahead.
struct TrafficOutcome {
  std::vector<std::uint64_t> arrivals;  // by node: hash of arrivals and their instants, in order
  std::vector<std::int64_t> ends;       // ends of bodies, by rank, ps
  std::vector<std::uint64_t> links;     // by link: hash of its use
  std::vector<std::int64_t> blocks;     // ends of all blocks but the last, ps
  std::uint64_t events = 0;
  SimTime end;
  bool operator==(const TrafficOutcome&) const = default;

  // Return a hash of all modelled results; the number of events is left out, since it may differ.
  [[nodiscard]] std::uint64_t digest() const {
    std::uint64_t hash = static_cast<std::uint64_t>(end.ps);
    for (const std::uint64_t arrival : arrivals) hash = mixed(hash, arrival);
    for (const std::int64_t rank_end : ends) hash = mixed(hash, static_cast<std::uint64_t>(rank_end));
    for (const std::uint64_t link : links) hash = mixed(hash, link);
    for (const std::int64_t block : blocks) hash = mixed(hash, static_cast<std::uint64_t>(block));
    return hash;
  }

  static std::uint64_t mixed(std::uint64_t hash, std::uint64_t value) {
    hash = (hash ^ value) * kGoldenGamma;
    return hash ^ (hash >> 29U);
  }
};

class RandomTraffic : public FabricSink {
 public:
  explicit RandomTraffic(const TrafficOptions& options)
      : options_(options),
        topology_(Topology::parse(options.topology)),
        engine_(engine_options()),
        pool_(engine_.partitions()),
        fabric_(engine_, topology_, parameters(), *this),
        ranks_(engine_.ranks()),
        nodes_(topology_.vertices()) {
    if (options_.step_by_step || options_.traced) fabric_.go_step_by_step();
    if (options_.traced) trace_.emplace(fabric_);
    for (std::uint32_t rank = 0; rank < engine_.ranks(); ++rank) {
      ranks_[rank].sent.resize(engine_.ranks());
      ranks_[rank].seen.resize(engine_.ranks());
      engine_.start(Rank{rank}, [this, rank] { live(rank); });
    }
  }

  TrafficOutcome run() {
    TrafficOutcome outcome;
    for (unsigned block = 0; block < options_.parks; ++block) {
      engine_.run();
      outcome.blocks.push_back(engine_.now().ps);
    }
    engine_.run();
    for (const Node& node : nodes_) outcome.arrivals.push_back(node.hash);
    for (const OfRank& rank : ranks_) outcome.ends.push_back(rank.end.ps);
    for (const LinkUse& link : fabric_.use()) {
      outcome.links.push_back(mixed(mixed(link.bytes, link.packets), static_cast<std::uint64_t>(link.longest_wait.ps)) +
                              link.blocked);
    }
    outcome.events = engine_.counters().events;
    outcome.end = engine_.now();
    return outcome;
  }

  // Sum over all nodes and ranks, after run().
  [[nodiscard]] std::uint64_t sum(std::uint64_t (RandomTraffic::*of)(std::uint32_t rank) const) const {
    std::uint64_t total = 0;
    for (std::uint32_t rank = 0; rank < ranks_.size(); ++rank) total += (this->*of)(rank);
    return total;
  }
  [[nodiscard]] std::uint64_t lost(std::uint32_t rank) const {
    std::uint64_t packets = 0;
    for (std::uint32_t to = 0; to < ranks_.size(); ++to) packets += ranks_[rank].sent[to] - ranks_[to].seen[rank];
    return packets;
  }
  [[nodiscard]] std::uint64_t out_of_order(std::uint32_t rank) const { return ranks_[rank].out_of_order; }
  [[nodiscard]] std::uint64_t out_of_flow(std::uint32_t rank) const { return ranks_[rank].out_of_flow; }
  [[nodiscard]] std::uint64_t astray(std::uint32_t rank) const { return ranks_[rank].astray; }
  // Return the bytes of all packets, times the links on their ways.
  [[nodiscard]] std::uint64_t byte_hops(std::uint32_t rank) const { return ranks_[rank].byte_hops; }
  // Tell whether packets of different nodes arrived on different threads.
  [[nodiscard]] bool ran_parallel() const {
    for (const Node& node : nodes_) {
      if (node.elsewhere) return true;
    }
    return false;
  }
  [[nodiscard]] const Fabric& fabric() const { return fabric_; }
  [[nodiscard]] const Engine& engine() const { return engine_; }
  [[nodiscard]] const Trace& trace() const { return *trace_; }

 private:
  enum Kind : std::uint8_t { request, acknowledgement };
  static constexpr std::uint16_t kInStep = 100;

  struct OfRank {
    unsigned out = 0;
    std::vector<std::uint32_t> sent;  // by receiver
    std::vector<std::uint32_t> seen;  // by sender
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> next_of_flow;
    std::uint64_t out_of_order = 0;
    std::uint64_t out_of_flow = 0;
    std::uint64_t astray = 0;
    std::uint64_t byte_hops = 0;
    SimTime end;
  };
  struct Node {
    std::uint64_t hash = 1;
    bool elsewhere = false;
  };

  static std::uint64_t mixed(std::uint64_t hash, std::uint64_t value) { return TrafficOutcome::mixed(hash, value); }

  [[nodiscard]] FabricParameters parameters() const {
    FabricParameters parameters({options_.per_byte_fs, options_.latency, options_.buffer});
    parameters.classes = options_.classes;
    parameters.echo = 8;  // on one-way rings
    parameters.turn = {70'000};
    return parameters;
  }
  [[nodiscard]] EngineOptions engine_options() const {
    EngineOptions options = options_for(topology_.terminals() * options_.ranks_per_node, topology_.vertices());
    options.threads = options_.threads;
    options.strict = options_.strict;
    options.fibres = options_.fibres;
    for (std::uint32_t rank = 0; rank < options.ranks; ++rank) {
      options.node_of.push_back(rank / options_.ranks_per_node);
    }
    return options;
  }

  void live(std::uint32_t rank) {
    ModelHost host = engine_.host(Rank{rank});
    OfRank& state = ranks_[rank];
    std::minstd_rand random(static_cast<std::minstd_rand::result_type>(options_.seed * 7919 + rank + 1));
    const auto wait_for_less_than = [&](unsigned outstanding) {
      while (true) {
        host.synchronise();
        if (state.out < outstanding) return;
        host.idle(kNever);
      }
    };
    unsigned parked = 0;
    for (std::uint64_t message = 0; message < options_.messages; ++message) {
      wait_for_less_than(options_.outstanding);
      for (auto work = random() % 4; work != 0; --work) host.charge(conduit::PrivatePrice::call);
      host.charge(conduit::PrivatePrice::update);
      if (options_.in_step) wait_for_step(host);
      host.synchronise();
      ++state.out;
      const auto anyone = static_cast<std::uint32_t>(random() % ranks_.size());
      const auto bytes = static_cast<std::uint16_t>(24 + random() % 200);
      send(rank, options_.hot_spot ? 0 : anyone, request, options_.in_step ? kInStep : bytes, host.now());
      if (random() % 8 == 0) host.idle(host.now() + SimTime{static_cast<std::int64_t>(random() % 500'000)});
      if (options_.parks != 0 && (message + 1) % (options_.messages / (options_.parks + 1)) == 0 &&
          parked < options_.parks) {
        ++parked;
        engine_.park(Rank{rank});
      }
    }
    wait_for_less_than(1);
    state.end = host.now();
  }

  void wait_for_step(ModelHost& host) const {
    const std::int64_t step = fabric_.on_wire(kInStep).ps;
    const SimTime next{(host.now().ps / step + 1) * step};
    while (host.now() < next) host.idle(next);
  }

  void send(std::uint32_t from, std::uint32_t to, Kind kind, std::uint16_t bytes, SimTime now) {
    const NodeId here = engine_.node_of(Rank{from});
    TestPacket& packet = *pool_.take(engine_.partition_of(here));
    packet.from = index(here);
    packet.to = index(engine_.node_of(Rank{to}));
    packet.kind = kind & 0x7fU;
    packet.watched = 0;
    packet.bytes = bytes;
    packet.sender = from;
    packet.receiver = to;
    packet.number = ranks_[from].sent[to]++;
    const bool away = packet.from != packet.to;
    if (away) ranks_[from].byte_hops += std::uint64_t{bytes} * topology_.hops(packet.from, packet.to);
    fabric_.inject(packet, now, options_.unordered ? kUnordered : packet.number % options_.flows);
    if (away && trace_) trace_->follow(packet, now);
  }

  SimTime arrived(Packet& base, SimTime now) override {
    auto& packet = static_cast<TestPacket&>(base);
    OfRank& state = ranks_[packet.receiver];
    const NodeId here = engine_.node_of(Rank{packet.receiver});
    if (packet.vertex != index(here) || packet.to != index(here)) ++state.astray;
    // On equal routes no packet overtakes another.
    if (packet.number != state.seen[packet.sender]) ++state.out_of_order;
    ++state.seen[packet.sender];
    std::uint32_t& next = state.next_of_flow[{packet.sender, packet.number % options_.flows}];
    if (packet.number / options_.flows != next++) ++state.out_of_flow;
    Node& node = nodes_[index(here)];
    node.elsewhere |= std::this_thread::get_id() != main_;
    for (const std::uint64_t value :
         {static_cast<std::uint64_t>(now.ps), static_cast<std::uint64_t>(packet.tail.ps),
          std::uint64_t{packet.sender} << 32U | packet.receiver, std::uint64_t{packet.number} << 8U | packet.kind}) {
      node.hash = mixed(node.hash, value);
    }
    // Some packets stay longer than their bytes take.
    const SimTime longer = options_.in_step ? fabric_.on_wire(kInStep) : SimTime{40'000};
    const SimTime left = packet.tail + (packet.number % 3 == 0 ? longer : SimTime{});
    if (trace_ && packet.from != packet.to) trace_->deliver(packet, left);
    const std::uint32_t sender = packet.sender;
    const std::uint32_t receiver = packet.receiver;
    const bool is_request = packet.kind == request;
    pool_.give(engine_.partition_of(here), &packet);
    if (is_request) {
      send(receiver, sender, acknowledgement, options_.in_step ? kInStep : std::uint16_t{24}, now);
    } else {
      --state.out;
      engine_.wake(Rank{receiver}, now);
    }
    return left;
  }
  void departed(Packet&, SimTime) override {}

  TrafficOptions options_;
  Topology topology_;
  Engine engine_;
  PacketPool<TestPacket> pool_;
  Fabric fabric_;
  std::optional<Trace> trace_;
  std::vector<OfRank> ranks_;
  std::vector<Node> nodes_;
  std::thread::id main_ = std::this_thread::get_id();
};

}  // namespace gasmeter::sim::testing
