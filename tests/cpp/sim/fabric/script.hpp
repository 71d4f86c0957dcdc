// A few packets over a fabric at given instants, for golden times.
#pragma once

#include <doctest/doctest.h>

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "fabric_trace.hpp"
#include "gasmeter/sim/engine/model_host.hpp"
#include "gasmeter/sim/fabric/fabric.hpp"
#include "gasmeter/sim/trace/tracer.hpp"
#include "sim/engine/prices.hpp"

namespace gasmeter::sim::testing {

// A packet's times, in ns.
struct Seen {
  std::int64_t head = -1;
  std::int64_t tail = -1;
  std::uint32_t channel = 0;
  std::int64_t departed = -1;
  bool operator==(const Seen&) const = default;
};

struct SeenEcho {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  std::int64_t head = -1;
  std::int64_t tail = -1;
  bool operator==(const SeenEcho&) const = default;
};

// Packets sent at given instants, each by a body on its node. Links take 1 ns a byte and 100 ns by default.
class Script : public FabricSink {
 public:
  explicit Script(const std::string& topology, unsigned buffer = 0)
      : Script(topology, FabricParameters({1'000'000, {100'000}, buffer})) {}
  Script(const std::string& topology, const FabricParameters& parameters)
      : engine_(options(Topology::parse(topology))), fabric_(engine_, Topology::parse(topology), parameters, *this) {}

  // Send a packet; packets are numbered from 0.
  void send(std::int64_t at, std::uint32_t from, std::uint32_t to, std::uint16_t bytes, bool watched = false,
            std::uint32_t flow = 0) {
    TestPacket& packet = packets_.emplace_back();
    packet.from = from;
    packet.to = to;
    packet.bytes = bytes;
    packet.watched = watched;
    packet.number = static_cast<std::uint32_t>(seen_.size());
    seen_.emplace_back();
    plans_[from].push_back({at, &packet, flow});
  }
  void stay_after_arrival(std::int64_t time) { stay_ = {time * 1'000}; }

  std::vector<Seen> run() {
    for (std::uint32_t rank = 0; rank < engine_.ranks(); ++rank) engine_.start(Rank{rank}, [this, rank] { act(rank); });
    engine_.run();
    return seen_;
  }
  // Run, and trace from `at` on, when all packets have been sent.
  std::vector<Seen> run_traced_from(std::int64_t at) {
    for (std::uint32_t rank = 0; rank < engine_.ranks(); ++rank) {
      engine_.start(Rank{rank}, [this, rank, at] { act(rank, at * 1'000); });
    }
    engine_.run();
    Tracer tracer(engine_.ranks());
    engine_.trace(&tracer);
    fabric_.name_steps(tracer);
    for (std::uint32_t rank = 0; rank < engine_.ranks(); ++rank) {
      engine_.start(Rank{rank}, [this, rank] { engine_.host(Rank{rank}).idle({kEnd}); });
    }
    engine_.run();
    engine_.trace(nullptr);
    return seen_;
  }
  [[nodiscard]] Fabric& fabric() { return fabric_; }
  [[nodiscard]] const std::vector<SeenEcho>& echoes() const { return echoes_; }
  [[nodiscard]] LinkUse use(std::uint32_t vertex, std::uint32_t to) const {
    for (const LinkUse& each : fabric_.use()) {
      if (each.vertex == vertex && each.to == to) return each;
    }
    return {};
  }

 private:
  struct Plan {
    std::int64_t at;
    TestPacket* packet;
    std::uint32_t flow;
  };

  static EngineOptions options(const Topology& topology) {
    EngineOptions result = options_for(topology.terminals(), topology.vertices());
    result.prices[conduit::PrivatePrice::poll_miss].fixed = {1'000};
    return result;
  }

  static constexpr std::int64_t kEnd = 100'000'000;

  void act(std::uint32_t rank, std::int64_t until = kEnd) {
    ModelHost host = engine_.host(Rank{rank});
    for (const Plan& plan : plans_[rank]) {
      if (host.now() < SimTime{plan.at * 1'000}) host.idle({plan.at * 1'000});
      fabric_.inject(*plan.packet, host.now(), plan.flow);
    }
    host.idle({until});
  }

  SimTime arrived(Packet& packet, SimTime now) override {
    Seen& seen = seen_[static_cast<TestPacket&>(packet).number];
    CHECK(seen.head == -1);
    CHECK(packet.vertex == packet.to);
    seen.head = now.ps / 1'000;
    seen.tail = packet.tail.ps / 1'000;
    seen.channel = packet.channel;
    return packet.tail + stay_;
  }
  void departed(Packet& packet, SimTime end) override {
    Seen& seen = seen_[static_cast<TestPacket&>(packet).number];
    CHECK(seen.departed == -1);
    CHECK(seen.head == -1);
    seen.departed = end.ps / 1'000;
  }

  void echoed(const Packet& echo, SimTime now) override {
    echoes_.push_back({echo.from, echo.to, now.ps / 1'000, echo.tail.ps / 1'000});
  }

  Engine engine_;
  std::deque<TestPacket> packets_;
  std::vector<Seen> seen_;
  std::vector<SeenEcho> echoes_;  // in order of their arrival
  std::map<std::uint32_t, std::vector<Plan>> plans_;
  SimTime stay_;
  Fabric fabric_;
};

}  // namespace gasmeter::sim::testing
