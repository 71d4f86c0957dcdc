// Golden times of one-way rings: tests/golden/fabric.md.
#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "gasmeter/base/error.hpp"
#include "gasmeter/sim/trace/tracer.hpp"
#include "random_traffic.hpp"
#include "script.hpp"

namespace gasmeter::sim::fabric_rings_test {
namespace {

using testing::Script;
using testing::Seen;
using testing::SeenEcho;

// Echoes have 8 bytes; a turn from one ring to the next takes 40 ns.
FabricParameters rings(unsigned buffer = 0) {
  FabricParameters parameters({1'000'000, {100'000}, buffer});
  parameters.echo = 8;
  parameters.turn = {40'000};
  return parameters;
}

TEST_CASE("a_transaction_loads_its_whole_ring") {
  Script script("oneway-ring:4", rings());
  script.send(10, 0, 1, 50);
  const std::vector<Seen> seen = script.run();
  CHECK(seen[0].head == 110);
  CHECK(seen[0].tail == 160);
  CHECK(script.echoes() == std::vector<SeenEcho>{{1, 0, 460, 468}});
  CHECK(script.use(0, 1).bytes == 50);
  for (const std::uint32_t vertex : {1U, 2U, 3U}) {
    CHECK(script.use(vertex, (vertex + 1) % 4).packets == 1);
    CHECK(script.use(vertex, (vertex + 1) % 4).bytes == 8);
  }
  CHECK(script.fabric().use().size() == 4);
}

TEST_CASE("a_way_back_goes_on_round_the_ring") {
  Script script("oneway-ring:4", rings());
  script.send(10, 1, 0, 50);
  const std::vector<Seen> seen = script.run();
  CHECK(seen[0].head == 310);
  CHECK(seen[0].tail == 360);
  CHECK(seen[0].channel == 1);
  CHECK(script.echoes() == std::vector<SeenEcho>{{0, 1, 460, 468}});
}

TEST_CASE("an_echo_waits_for_a_link_as_all_do") {
  Script script("oneway-ring:4", rings());
  script.send(10, 0, 1, 50);
  script.send(150, 1, 2, 80);
  const std::vector<Seen> seen = script.run();
  CHECK(seen[1].head == 250);
  CHECK(script.echoes() == std::vector<SeenEcho>{{1, 0, 530, 538}, {2, 1, 638, 646}});
}

TEST_CASE("a_packet_is_taken_in_whole_where_it_turns_and_each_ring_has_its_echo") {
  Script script("oneway-torus2d:3x3", rings());
  script.send(10, 0, 4, 50);
  const std::vector<Seen> seen = script.run();
  CHECK(seen[0].head == 300);
  CHECK(seen[0].tail == 350);
  CHECK(script.echoes() == std::vector<SeenEcho>{{1, 0, 360, 368}, {4, 1, 550, 558}});
  for (const LinkUse& use : script.fabric().use()) {
    const bool of_its_rings = use.port == 0 ? use.vertex < 3 : use.vertex % 3 == 1;
    CHECK(use.packets == (of_its_rings ? 1 : 0));
  }
}

TEST_CASE("a_packet_that_turns_keeps_its_buffer_until_it_has_left") {
  Script script("oneway-torus2d:3x3", rings(1));
  script.send(10, 0, 4, 50);
  script.send(10, 0, 1, 50);
  const std::vector<Seen> seen = script.run();
  CHECK(seen[0].head == 300);
  CHECK(seen[1].head == 450);
}

TEST_CASE("a_packet_to_itself_has_no_echo") {
  Script script("oneway-ring:3", rings());
  script.send(70, 1, 1, 50);
  CHECK(script.run()[0].head == 70);
  CHECK(script.echoes().empty());
}

TEST_CASE("a_trace_tells_hops_from_turns") {
  struct Sink : FabricSink {
    explicit Sink(Engine& of) : engine(of) {}
    SimTime arrived(Packet& packet, SimTime now) override {
      engine.wake(Rank{packet.to}, now);
      return packet.tail;
    }
    void departed(Packet&, SimTime) override {}
    Engine& engine;
  };
  Engine engine(testing::options_for(9, 9));
  Tracer tracer(9);
  engine.trace(&tracer);
  Sink sink(engine);
  Fabric fabric(engine, Topology::parse("oneway-torus2d:3x3"), rings(), sink);
  fabric.name_steps(tracer);
  testing::TestPacket packet;
  packet.to = 4;
  packet.bytes = 50;
  engine.start(Rank{0}, [&] {
    fabric.inject(packet, {});
    engine.host(Rank{0}).idle({1'000'000});
  });
  SimTime came;
  engine.start(Rank{4}, [&] {
    engine.host(Rank{4}).idle(kNever);
    came = engine.host(Rank{4}).now();
  });
  engine.run();
  CHECK(came == SimTime{290'000});
  std::string steps;
  for (const Stretch& each : tracer.way(Rank{4}, {0}, came)) {
    steps += std::string(name_of(each.step)) + " " + std::to_string(each.end.ps / 1'000) + ", ";
  }
  CHECK(steps == "hop 100, wire 150, device 190, hop 290, ");
}

// Extent 130 exceeds the table of ways.
TEST_CASE("what_comes_express_round_rings_is_what_comes_step_by_step") {
  for (const char* topology : {"oneway-ring:2", "oneway-ring:7", "oneway-torus2d:4x3", "oneway-torus2d:130x1",
                               "oneway-torus3d:3x2x4", "oneway-torus3d:5x1x3"}) {
    CAPTURE(topology);
    for (const unsigned buffer : {0U, 1U, 2U, 8U}) {
      CAPTURE(buffer);
      for (const bool hot_spot : {false, true}) {
        testing::TrafficOptions options;
        options.topology = topology;
        options.buffer = buffer;
        options.hot_spot = hot_spot;
        options.in_step = hot_spot;
        options.messages = 20;
        options.seed = buffer + 1;
        options.parks = 1;
        const testing::TrafficOutcome express = testing::RandomTraffic(options).run();
        options.step_by_step = true;
        const testing::TrafficOutcome steps = testing::RandomTraffic(options).run();
        CHECK(express.digest() == steps.digest());
        CHECK(express.events == steps.events);
      }
    }
  }
}

}  // namespace
}  // namespace gasmeter::sim::fabric_rings_test
