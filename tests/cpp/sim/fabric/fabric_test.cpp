// Golden times: tests/golden/fabric.md.
#include "gasmeter/sim/fabric/fabric.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "gasmeter/base/error.hpp"
#include "gasmeter/sim/engine/model_host.hpp"
#include "nowhere.hpp"
#include "random_traffic.hpp"
#include "script.hpp"
#include "sim/engine/prices.hpp"
#include "support/effort.hpp"

namespace gasmeter::sim::fabric_test {
namespace {

using gasmeter::testing::rounds;
using testing::RandomTraffic;
using testing::Script;
using testing::Seen;
using testing::TestPacket;
using testing::TrafficOptions;

TEST_CASE("a_packet_crosses_one_link") {
  Script script("mesh2d:2x1");
  script.send(10, 0, 1, 50);
  const auto seen = script.run();
  CHECK(seen[0].head == 110);
  CHECK(seen[0].tail == 160);
  CHECK(seen[0].departed == -1);  // not watched
}

TEST_CASE("a_packet_is_serialised_once_on_its_way") {
  Script script("mesh2d:4x1");
  script.send(10, 0, 3, 50);
  const auto seen = script.run();
  CHECK(seen[0].head == 310);
  CHECK(seen[0].tail == 360);
}

TEST_CASE("the_second_of_two_flows_waits_for_the_link") {
  SUBCASE("the packet that passes came first") {
    Script script("mesh2d:3x1");
    script.send(0, 0, 2, 50);
    script.send(120, 1, 2, 80);
    const auto seen = script.run();
    CHECK(seen[0].head == 200);
    CHECK(seen[0].tail == 250);
    CHECK(seen[1].head == 250);
    CHECK(seen[1].tail == 330);
    CHECK(script.use(1, 2).longest_wait == SimTime{30'000});
  }
  SUBCASE("the router's own came first") {
    Script script("mesh2d:3x1");
    script.send(0, 0, 2, 50);
    script.send(90, 1, 2, 80);
    const auto seen = script.run();
    CHECK(seen[0].head == 270);
    CHECK(seen[0].tail == 320);
    CHECK(seen[1].head == 190);
    CHECK(seen[1].tail == 270);
    CHECK(script.use(1, 2).longest_wait == SimTime{70'000});
  }
  SUBCASE("at one instant the packet that passes goes before the rank's") {
    Script script("mesh2d:3x1");
    script.send(0, 0, 2, 50);
    script.send(100, 1, 2, 80);
    const auto seen = script.run();
    CHECK(seen[0].head == 200);
    CHECK(seen[1].head == 250);
  }
  SUBCASE("flows to different links do not meet") {
    Script script("mesh2d:3x1");
    script.send(0, 0, 2, 50);
    script.send(100, 1, 0, 80);
    const auto seen = script.run();
    CHECK(seen[0].head == 200);
    CHECK(seen[1].head == 200);
    CHECK(script.use(1, 0).longest_wait == SimTime{});
  }
}

TEST_CASE("a_packet_waits_for_a_credit") {
  const auto heads = [](const std::string& topology, unsigned buffer, std::uint32_t to, std::int64_t stay = 0) {
    Script script(topology, buffer);
    script.stay_after_arrival(stay);
    for (int packet = 0; packet < 3; ++packet) script.send(0, 0, to, 50);
    std::vector<std::int64_t> result;
    for (const Seen& seen : script.run()) {
      CHECK(seen.tail == seen.head + 50);
      result.push_back(seen.head);
    }
    return result;
  };
  using Heads = std::vector<std::int64_t>;
  CHECK(heads("mesh2d:2x1", 0, 1) == Heads{100, 150, 200});
  CHECK(heads("mesh2d:2x1", 1, 1) == Heads{100, 350, 600});
  CHECK(heads("mesh2d:2x1", 2, 1) == Heads{100, 150, 350});
  CHECK(heads("mesh2d:2x1", 3, 1) == Heads{100, 150, 200});
  CHECK(heads("mesh2d:3x1", 1, 2) == Heads{200, 450, 700});
  CHECK(heads("mesh2d:2x1", 1, 1, 500) == Heads{100, 850, 1600});
}

TEST_CASE("use_counts_what_found_no_buffer") {
  Script script("mesh2d:2x1", 2);
  for (int packet = 0; packet < 3; ++packet) script.send(0, 0, 1, 50);
  (void)script.run();
  const LinkUse use = script.use(0, 1);
  CHECK(use.packets == 3);
  CHECK(use.bytes == 150);
  CHECK(use.busy == SimTime{150'000});
  CHECK(use.longest_wait == SimTime{50'000});  // wait of the second packet for the first's bytes
  CHECK(use.blocked == 1);
  script.fabric().reset_use();
  CHECK(script.use(0, 1).packets == 0);
  CHECK(script.use(0, 1).bytes == 0);
  CHECK(script.use(0, 1).longest_wait == SimTime{});
  CHECK(script.use(0, 1).blocked == 0);
  CHECK(script.fabric().use().size() == 2);
}

TEST_CASE("a_way_is_in_channel_1_from_the_wrap_link_on") {
  Script script("ring:5", 1);
  script.send(0, 3, 0, 50);  // 3, 4, 0
  script.send(0, 2, 4, 50);  // 2, 3, 4
  script.send(0, 0, 3, 50);  // 0, 4, 3
  script.send(0, 4, 0, 50);
  const auto seen = script.run();
  CHECK(seen[0].channel == 1);
  CHECK(seen[1].channel == 0);
  CHECK(seen[2].channel == 1);
  CHECK(seen[3].channel == 1);
}

TEST_CASE("a_channel_without_a_buffer_lets_the_other_pass") {
  Script script("ring:5", 1);
  script.send(0, 0, 1, 50);
  script.send(0, 0, 1, 50);
  script.send(0, 4, 1, 50);  // over the wrap link: channel 1 from 4 on
  const auto seen = script.run();
  CHECK(seen[0].head == 100);
  CHECK(seen[1].head == 350);
  CHECK(seen[2].head == 200);
  CHECK(seen[2].channel == 1);
  CHECK(script.use(0, 1).blocked == 1);
}

// A buffer falls free for the fourth packet of 3 at 550. Two packets come at that instant, before 4 looks: one of the
// other channel, which makes it look, and the fifth packet of 3.
TEST_CASE("nobody_overtakes_who_waits_for_the_buffer_that_is_just_free") {
  Script script("torus2d:3x7", 3);
  script.stay_after_arrival(200);
  for (const int at : {9'850, 10'050, 10'100}) script.send(at, 19, 7, 50);   // over the wrap link: channel 1 at 4
  for (int packet = 0; packet < 4; ++packet) script.send(10'000, 3, 7, 50);  // channel 0 at 4
  script.send(10'450, 3, 7, 50);
  script.send(10'350, 19, 7, 50);
  const auto seen = script.run();
  CHECK(seen[3].head == 10'200);
  CHECK(seen[4].head == 10'250);
  CHECK(seen[5].head == 10'300);
  CHECK(seen[8].channel == 1);
  CHECK(seen[8].head == 10'650);
  CHECK(seen[6].head == 10'700);
  CHECK(seen[7].head == 10'750);
}

TEST_CASE("a_watched_packet_tells_when_it_has_left") {
  SUBCASE("one after the other") {
    Script script("mesh2d:3x1");
    script.send(0, 0, 2, 50, true);
    script.send(0, 0, 2, 80, true);
    script.send(0, 0, 2, 10);
    const auto seen = script.run();
    CHECK(seen[0].departed == 50);
    CHECK(seen[1].departed == 130);
    CHECK(seen[2].departed == -1);
  }
  SUBCASE("after a credit") {
    Script script("mesh2d:3x1", 1);
    script.send(0, 0, 2, 50);
    script.send(0, 0, 2, 50, true);
    CHECK(script.run()[1].departed == 300);
  }
}

// Packets may be on a link, or wait for a link or a buffer, when tracing begins.
TEST_CASE("packets_that_are_under_way_go_on_alike_when_tracing_begins") {
  for (const std::string topology : {"ring:6", "mesh2d:4x2", "torus3d:3x3x3"}) {
    CAPTURE(topology);
    const auto seen = [&](std::int64_t traced_from) {
      Script script(topology, 1);
      for (int packet = 0; packet < 3; ++packet) {
        for (std::uint32_t from = 0; from < 4; ++from) script.send(0, from, from + (packet == 1 ? 2 : 1), 50);
        script.send(0, 0, 5, 50, true);
      }
      return traced_from < 0 ? script.run() : script.run_traced_from(traced_from);
    };
    const std::vector<Seen> untraced = seen(-1);
    for (std::int64_t at = 0; at <= 1500; at += 25) {
      CAPTURE(at);
      CHECK((seen(at) == untraced));
    }
  }
}

TEST_CASE("a_packet_to_itself_arrives_at_once") {
  for (const char* topology : {"mesh2d:2x1", "ring:1", "crossbar:2"}) {
    CAPTURE(topology);
    Script script(topology, 1);
    script.send(70, 0, 0, 50, true);
    script.send(70, 0, 0, 50);
    const auto seen = script.run();
    CHECK(seen[0].head == 70);
    CHECK(seen[0].tail == 70);
    CHECK(seen[0].departed == 70);
    CHECK(seen[1].head == 70);
    for (const LinkUse& use : script.fabric().use()) CHECK(use.packets == 0);
  }
}

TEST_CASE("a_fabric_refuses_what_cannot_be") {
  struct Nowhere : FabricSink {
    SimTime arrived(Packet& packet, SimTime) override { return packet.tail; }
    void departed(Packet&, SimTime) override {}
  } sink;
  const Topology pair = Topology::parse("mesh2d:2x1");
  Engine engine(testing::options_for(2, 2));
  CHECK_THROWS_AS(Fabric(engine, Topology::parse("ring:3"), {1, {1}, 1}, sink), UsageError);
  Engine second(testing::options_for(2, 2));
  CHECK_THROWS_AS(Fabric(second, pair, {-1, {1}, 1}, sink), UsageError);
  Engine third(testing::options_for(2, 2));
  CHECK_THROWS_AS(Fabric(third, pair, {1, {-1}, 1}, sink), UsageError);
  Engine fourth(testing::options_for(2, 2));
  CHECK_THROWS_AS(Fabric(fourth, pair, {1, {0}, 1}, sink), UsageError);
}

TEST_CASE("a_fabric_refuses_classes_and_ways_it_does_not_have") {
  struct Nowhere : FabricSink {
    SimTime arrived(Packet& packet, SimTime) override { return packet.tail; }
    void departed(Packet&, SimTime) override {}
  } sink;
  const auto error_of = [&](const char* text, FabricParameters parameters) -> std::string {
    const Topology topology = Topology::parse(text);
    Engine engine(testing::options_for(topology.terminals(), topology.vertices()));
    try {
      const Fabric fabric(engine, topology, parameters, sink);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "";
  };
  const LinkParameters link{1, {1}, 1};
  FabricParameters parameters(link);
  CHECK(error_of("torus2d:3x3", parameters).empty());
  CHECK(error_of("oneway-torus2d:3x3", parameters) ==
        "fabric: the links of oneway-torus2d:3x3 go one way, and this network uses links both ways; take torus2d:3x3");
  parameters.echo = 8;
  CHECK(error_of("oneway-torus2d:3x3", parameters).empty());
  parameters.turn = {-1};
  CHECK(error_of("oneway-ring:3", parameters) == "fabric: a negative cost of a turn; 0 or more is allowed");
  parameters.turn = {};
  parameters.classes["global"] = link;
  CHECK(error_of("dragonfly:3x2x2", parameters).empty());
  CHECK(error_of("torus2d:3x3", parameters) ==
        "fabric: torus2d:3x3 has no links of class `global`; its classes are x, y");
  parameters.classes["global"].buffer = 0;
  CHECK(error_of("dragonfly:3x2x2", parameters) ==
        "fabric: buffers of class `global` are without limit and those of `terminal` are not; give all classes a "
        "limit, or none");
  parameters.classes["global"] = {1, {0}, 1};
  CHECK(error_of("dragonfly:3x2x2", parameters) ==
        "sim: a network whose packets take no time between nodes; at least 1 ps is needed");
  parameters.classes["global"] = {-1, {1}, 1};
  CHECK(error_of("dragonfly:3x2x2", parameters) == "fabric: a negative cost of a link; 0 or more is allowed");
}

TEST_CASE("an_engine_has_one_fabric") {
  testing::Nowhere sink;
  Engine engine(testing::options_for(2, 2));
  const Fabric first(engine, Topology::parse("ring:2"), {1'000, {1'000}, 1}, sink);
  CHECK_THROWS_WITH_AS(Fabric(engine, Topology::parse("ring:2"), {1'000, {1'000}, 1}, sink),
                       "sim: a second fabric of one engine", UsageError);
}

// A packet that a rank injects after the price of a post must not delay earlier packets.
TEST_CASE("a_rank_that_runs_ahead_does_not_change_what_comes_before") {
  struct Sink : FabricSink {
    std::map<std::uint32_t, std::int64_t> heads;
    SimTime arrived(Packet& packet, SimTime now) override {
      heads[packet.from] = now.ps / 1'000;
      return packet.tail;
    }
    void departed(Packet&, SimTime) override {}
  };
  for (const unsigned buffer : {0U, 1U}) {
    CAPTURE(buffer);
    Sink sink;
    Engine engine(testing::options_for(3, 3));
    Fabric fabric(engine, Topology::parse("mesh2d:3x1"), {1'000'000, {100'000}, buffer}, sink);
    TestPacket passes;
    TestPacket own;
    const auto send = [&](TestPacket& packet, std::uint32_t from) {
      packet.from = from;
      packet.to = 2;
      packet.bytes = 50;
      fabric.inject(packet, engine.host(Rank{from}).now());
    };
    engine.start(Rank{0}, [&] {
      send(passes, 0);
      engine.host(Rank{0}).idle({10'000'000});
    });
    engine.start(Rank{1}, [&] {
      engine.host(Rank{1}).charge_shared(conduit::SharedPrice::nic_post);  // 200 ns; the other packet comes at 100
      send(own, 1);
      engine.host(Rank{1}).idle({10'000'000});
    });
    engine.run();
    CHECK(sink.heads[0] == 200);
    CHECK(sink.heads[1] == (buffer == 0 ? 300 : 450));
  }
}

TEST_CASE("random_traffic_arrives_once_in_order_over_links_that_differ_and_rings_that_go_one_way") {
  for (const char* topology : {"oneway-ring:5", "oneway-ring:2", "oneway-torus2d:4x4", "oneway-torus3d:3x2x3",
                               "torus2d:4x4", "fat-tree:3x2", "dragonfly:4x3x2", "xc:3x2x2"}) {
    CAPTURE(topology);
    const std::vector<std::string> classes = Topology::parse(topology).link_classes();
    for (const unsigned buffer : {1U, 2U, 8U, 0U}) {
      CAPTURE(buffer);
      TrafficOptions options;
      options.topology = topology;
      options.buffer = buffer;
      options.ranks_per_node = 2;
      options.messages = std::max<std::uint64_t>(10, rounds(60));
      options.seed = buffer;
      options.classes[classes.back()] = {800'000, {90'000}, 2 * buffer};
      if (classes.size() > 1) options.classes[classes.front()] = {5'000'000, {700'000}, (buffer + 1) / 2};
      RandomTraffic traffic(options);
      (void)traffic.run();
      CHECK(traffic.sum(&RandomTraffic::lost) == 0);
      CHECK(traffic.sum(&RandomTraffic::out_of_order) == 0);
      CHECK(traffic.sum(&RandomTraffic::astray) == 0);
    }
  }
}

TEST_CASE("random_traffic_arrives_once_in_order_and_obeys_every_buffer") {
  for (const char* topology : {"ring:5", "mesh2d:3x4", "torus2d:4x4", "torus3d:3x3x3", "crossbar:9", "fat-tree:3x2",
                               "dragonfly:4x3x2", "xc:3x2x2"}) {
    CAPTURE(topology);
    for (const unsigned buffer : {1U, 2U, 8U, 0U}) {
      CAPTURE(buffer);
      for (const unsigned ranks_per_node : {1U, 3U}) {
        TrafficOptions options;
        options.topology = topology;
        options.buffer = buffer;
        options.ranks_per_node = ranks_per_node;
        options.messages = std::max<std::uint64_t>(10, rounds(60));
        options.seed = buffer + 10 * ranks_per_node;
        options.traced = true;
        options.in_step = ranks_per_node == 3;
        if (options.in_step) options.latency = {320'000};  // time of two packets of 100 bytes
        RandomTraffic traffic(options);
        (void)traffic.run();
        CHECK(traffic.sum(&RandomTraffic::lost) == 0);
        CHECK(traffic.sum(&RandomTraffic::out_of_order) == 0);
        CHECK(traffic.sum(&RandomTraffic::astray) == 0);
        std::uint64_t bytes = 0;
        std::uint64_t blocked = 0;
        for (const LinkUse& link : traffic.fabric().use()) {
          bytes += link.bytes;
          blocked += link.blocked;
        }
        CHECK(bytes == traffic.sum(&RandomTraffic::byte_hops));
        if (buffer == 0) CHECK(blocked == 0);
        if (buffer == 1) CHECK(blocked != 0);
        traffic.trace().check();
      }
    }
  }
}

}  // namespace
}  // namespace gasmeter::sim::fabric_test
