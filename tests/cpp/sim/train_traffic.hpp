// Trains and single packets between terminals, answered now and then, with trains as one event or packet by packet.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gasmeter/sim/fabric.hpp"
#include "gasmeter/sim/model_host.hpp"
#include "prices.hpp"

namespace gasmeter::sim::testing {

struct Message {
  std::int64_t at = 0;  // ps
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  std::uint32_t count = 0;  // packets; 0: a packet that is no train
  std::uint16_t bytes = 0;
  std::uint16_t last_bytes = 0;
  bool answered = false;  // by half as many packets, from the event of the last arrival
  std::int64_t gap = 0;   // ps between its packets
  std::int64_t kept = 0;  // ps that the terminal keeps each packet after its last byte
};

struct TrainOptions {
  std::string topology;
  LinkParameters links;
  unsigned threads = 1;
  bool strict = false;
};

struct Arrival {
  std::size_t message = 0;  // answers behind all others
  std::uint32_t number = 0;
  std::int64_t head = 0;
  std::int64_t tail = 0;
  std::uint32_t bytes = 0;
  std::uint32_t channel = 0;
  bool operator==(const Arrival&) const = default;
};

struct TrainOutcome {
  std::vector<std::vector<Arrival>> arrivals;  // at each node, in order
  std::vector<std::int64_t> departed;          // of each message
  std::vector<std::uint64_t> links;            // packets, bytes, longest wait, blocked ones, of each
  std::uint64_t events = 0;
};

class TrainTraffic : public FabricSink {
 public:
  TrainTraffic(const TrainOptions& options, std::vector<Message> messages)
      : messages_(std::move(messages)),
        topology_(Topology::parse(options.topology)),
        engine_(engine_options(options, topology_)),
        fabric_(engine_, topology_, options.links, *this),
        plans_(engine_.ranks()) {
    const std::size_t asked = messages_.size();
    for (std::size_t i = 0; i < asked; ++i) {
      plans_[messages_[i].from].push_back(i);
      if (!messages_[i].answered) continue;
      Message answer = messages_[i];
      std::swap(answer.from, answer.to);
      answer.count /= 2;
      answer.answered = false;
      messages_.push_back(answer);
      answers_.push_back(i);
    }
    answer_of_.resize(asked);
    for (std::size_t i = 0; i < answers_.size(); ++i) answer_of_[answers_[i]] = asked + i;
    for (std::size_t i = 0; i < messages_.size(); ++i) {
      trains_.emplace_back().number = i;
      packets_.emplace_back().number = i;
    }
    outcome_.arrivals.resize(topology_.vertices());
    outcome_.departed.resize(messages_.size(), -1);
    elsewhere_.resize(topology_.vertices());
    for (std::uint32_t rank = 0; rank < engine_.ranks(); ++rank) engine_.start(Rank{rank}, [this, rank] { act(rank); });
  }

  TrainOutcome run() {
    engine_.run();
    for (const LinkUse& use : fabric_.use()) {
      outcome_.links.push_back(use.packets);
      outcome_.links.push_back(use.bytes);
      outcome_.links.push_back(static_cast<std::uint64_t>(use.longest_wait.ps));
      outcome_.links.push_back(use.blocked);
    }
    outcome_.events = engine_.counters().events;
    return outcome_;
  }
  // Packets that came twice, out of order, elsewhere or not at all.
  [[nodiscard]] std::uint64_t wrong() const {
    std::uint64_t result = 0;
    std::vector<std::uint32_t> seen(messages_.size());
    for (std::size_t node = 0; node < outcome_.arrivals.size(); ++node) {
      for (const Arrival& each : outcome_.arrivals[node]) {
        const Message& message = messages_[each.message];
        const bool last = each.number + 1 >= message.count;
        result += message.to != node;
        result += each.number != seen[each.message]++;
        result += each.bytes != (message.count != 0 && last ? message.last_bytes : message.bytes);
      }
    }
    for (std::size_t i = 0; i < messages_.size(); ++i) result += seen[i] != std::max(1U, messages_[i].count);
    return result;
  }
  // Whether packets of different nodes arrived on different threads.
  [[nodiscard]] bool ran_parallel() const {
    return std::find(elsewhere_.begin(), elsewhere_.end(), 1) != elsewhere_.end();
  }

 private:
  struct Numbered : Train {
    std::size_t number = 0;
  };
  struct Single : Packet {
    std::size_t number = 0;
  };

  static EngineOptions engine_options(const TrainOptions& options, const Topology& topology) {
    EngineOptions result = options_for(topology.terminals(), topology.vertices(), options.strict);
    result.threads = options.threads;
    result.prices[conduit::PrivatePrice::poll_miss].fixed = {1};
    return result;
  }

  void act(std::uint32_t rank) {
    ModelHost host = engine_.host(Rank{rank});
    for (const std::size_t number : plans_[rank]) {
      const SimTime at{messages_[number].at};
      if (host.now() < at) host.idle(at);
      send(number, host.now());
    }
    host.idle({1'000'000'000'000});
  }

  void send(std::size_t number, SimTime now) {
    const Message& message = messages_[number];
    if (message.count == 0) {
      Single& packet = packets_[number];
      packet.from = message.from;
      packet.to = message.to;
      packet.bytes = message.bytes;
      packet.watched = 1;
      fabric_.inject(packet, now);
    } else {
      Numbered& train = trains_[number];
      train.from = message.from;
      train.to = message.to;
      train.count = message.count;
      train.bytes = message.bytes;
      train.last_bytes = message.last_bytes;
      train.watched = true;
      fabric_.inject(train, now, {message.gap});
    }
  }

  SimTime came(std::size_t number, std::uint32_t packet, const Packet& as, SimTime now) {
    const Message& message = messages_[number];
    if (std::this_thread::get_id() != main_) elsewhere_[as.vertex] = 1;
    outcome_.arrivals[as.vertex].push_back({number, packet, now.ps, as.tail.ps, as.bytes, as.channel});
    if (message.answered && packet + 1 >= message.count) send(answer_of_[number], now);
    return as.tail + SimTime{message.kept};
  }
  SimTime arrived(Packet& packet, SimTime now) override {
    return came(static_cast<const Single&>(packet).number, 0, packet, now);
  }
  void departed(Packet& packet, SimTime end) override { leaves(static_cast<const Single&>(packet).number, end); }
  SimTime train_arrived(Train& train, std::uint32_t number, const Packet& packet, SimTime now) override {
    return came(static_cast<const Numbered&>(train).number, number, packet, now);
  }
  void train_departed(Train& train, SimTime end) override { leaves(static_cast<const Numbered&>(train).number, end); }

  // Once each.
  void leaves(std::size_t number, SimTime end) {
    std::int64_t& departed = outcome_.departed[number];
    departed = departed == -1 ? end.ps : -2;
  }

  std::vector<Message> messages_;
  std::vector<std::size_t> answers_;
  std::vector<std::size_t> answer_of_;
  Topology topology_;
  Engine engine_;
  Fabric fabric_;
  std::deque<Numbered> trains_;
  std::deque<Single> packets_;
  std::vector<std::vector<std::size_t>> plans_;
  TrainOutcome outcome_;
  std::vector<std::uint64_t> elsewhere_;  // of each node
  std::thread::id main_ = std::this_thread::get_id();
};

}  // namespace gasmeter::sim::testing
