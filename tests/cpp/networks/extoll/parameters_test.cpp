#include "gasmeter/networks/extoll/parameters.hpp"

#include <doctest/doctest.h>

#include <map>
#include <string>

#include "gasmeter/base/error.hpp"
#include "gasmeter/conduit/host_prices.hpp"
#include "support/taken_numbers.hpp"
#include "world.hpp"

namespace gasmeter::networks::extoll::parameters_test {
namespace {

// The keys of python/gasmeter/machines/extoll.toml that describe the device.
MachineNumbers card() {
  return {{"link.bandwidth", 625e6},
          {"link.latency", 0.27e-6},
          {"link.buffer", 16.0},
          {"link.header", 28.0},
          {"link.packet", 256.0},
          {"velo.payload", 56.0},
          {"velo.mailbox_slots", 512.0},
          {"velo.send_pipeline", 0.17e-6},
          {"velo.send_engine", 40e-9},
          {"velo.receive_engine", 0.23e-6},
          {"velo.read_pointer_update", 64.0},
          {"rma.descriptor", 24.0},
          {"rma.notification", 16.0},
          {"rma.requester", 0.2e-6},
          {"rma.completer", 0.21e-6},
          {"rma.responder", 0.22e-6},
          {"rma.host_read", 0.35e-6},
          {"rma.notification_slots", 512.0},
          {"host.pio_bandwidth", 1.6e9}};
}

TEST_CASE("parameters_come_from_every_key_of_the_machine") {
  const ExtollParameters p = taken<ExtollNumbers>("extoll", card()).device;
  CHECK(p.link.per_byte_fs == 1'600'000);
  CHECK(p.link.latency.ps == 270'000);
  CHECK(p.link.buffer == 16);
  CHECK(p.header == 28);
  CHECK(p.packet == 256);
  CHECK(p.host_link_per_byte_fs == 625'000);
  CHECK(p.velo_payload == 56);
  CHECK(p.mailbox_slots == 512);
  CHECK(p.velo_send_pipeline.ps == 170'000);
  CHECK(p.velo_send_engine.ps == 40'000);
  CHECK(p.velo_receive_engine.ps == 230'000);
  CHECK(p.read_pointer_update == 64);
  CHECK(p.descriptor == 24);
  CHECK(p.notification == 16);
  CHECK(p.requester.ps == 200'000);
  CHECK(p.completer.ps == 210'000);
  CHECK(p.responder.ps == 220'000);
  CHECK(p.host_read.ps == 350'000);
  CHECK(p.notification_slots == 512);
}

TEST_CASE("a_card_that_cannot_be_is_refused") {
  const std::map<std::string, double> wrong = {
      {"link.packet", 513},    {"velo.payload", 57},  {"velo.read_pointer_update", 513},
      {"rma.descriptor", 513}, {"link.header", 5000}, {"velo.mailbox_slots", 0}};
  for (const auto& each : wrong) {
    const std::string& key = each.first;
    CAPTURE(key);
    CHECK(refusal_of<ExtollNumbers>("extoll", key, each.second).find(key) != std::string::npos);
  }
}

TEST_CASE("a_rank_on_a_switch_is_refused") {
  sim::EngineOptions options = testing::World::options({.ranks = 3, .topology = "crossbar:2"});
  options.node_of = {0, 1, 2};
  sim::Engine engine(options);
  CHECK_THROWS_WITH_AS(ExtollNetwork(engine, sim::Topology::parse("crossbar:2")),
                       "extoll: rank 2 is placed on node 2, a switch; the cards are those of nodes 0..1", UsageError);
}

}  // namespace
}  // namespace gasmeter::networks::extoll::parameters_test
