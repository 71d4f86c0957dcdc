// Machines with Myrinet cards: which are allowed, and the errors for others.
#include "gasmeter/networks/gm/parameters.hpp"

#include <doctest/doctest.h>

#include <map>
#include <string>

#include "gasmeter/base/error.hpp"
#include "networks/gm/world.hpp"
#include "support/taken_numbers.hpp"

namespace gasmeter::networks::gm::parameters_test {
namespace {

const MachineNumbers kFine{
    {"link.bandwidth", 250e6},     {"link.latency", 150e-9},    {"link.buffer", 2.0},
    {"link.header", 26.0},         {"link.mtu", 4096.0},        {"pci.bandwidth", 400e6},
    {"lanai.packet", 2.5e-6},      {"lanai.directed", 1.5e-6},  {"lanai.acknowledgement", 0.8e-6},
    {"lanai.dma_start", 0.75e-6},  {"lanai.descriptor", 32.0},  {"port.send_tokens", 40.0},
    {"port.receive_tokens", 41.0}, {"port.hold_timer", 100e-6}, {"host.gm_send", 0.1e-6},
    {"host.gm_receive", 0.4e-6}};

std::string failure_of(const std::string& key, double value) {
  return refusal_of<GmNumbers>("gm", key, value);
}

TEST_CASE("gm_parameters_are_read_by_key") {
  const GmParameters p = taken<GmNumbers>("gm", kFine).device;
  CHECK(p.link.per_byte_fs == 4'000'000);
  CHECK(p.link.latency.ps == 150'000);
  CHECK(p.link.buffer == 2);
  CHECK(p.header == 26);
  CHECK(p.mtu == 4096);
  CHECK(p.pci_per_byte_fs == 2'500'000);
  CHECK(p.packet.ps == 2'500'000);
  CHECK(p.directed.ps == 1'500'000);
  CHECK(p.acknowledgement.ps == 800'000);
  CHECK(p.dma_start.ps == 750'000);
  CHECK(p.descriptor == 32);
  CHECK(p.send_tokens == 40);
  CHECK(p.receive_tokens == 41);
  CHECK(p.hold_timer.ps == 100'000'000);
  CHECK(p.send.ps == 100'000);
  CHECK(p.receive.ps == 400'000);
}

TEST_CASE("gm_machines_of_gm_2_say_so") {
  CHECK(failure_of("port.gm_version", 1).empty());
  CHECK(failure_of("port.gm_version", 3) == "gm: port.gm_version of 3; 1 and 2 are allowed");
  const GmParameters of_gm_1 = taken<GmNumbers>("gm").device;
  CHECK_FALSE(of_gm_1.gets);
  CHECK_FALSE(of_gm_1.interrupt);
  CHECK(of_gm_1.dmaable == 0);
  const GmParameters p =
      taken<GmNumbers>("gm", {{"port.gm_version", 2.0}, {"host.interrupt", 20e-6}, {"host.dmaable_memory", 1e9}})
          .device;
  CHECK(p.gets);
  CHECK(p.interrupt == SimTime{20'000'000});
  CHECK(p.dmaable == 1'000'000'000);
}

TEST_CASE("gm_machines_that_cannot_be_are_refused_by_name") {
  CHECK(failure_of("link.mtu", 63) == "gm: link.mtu of 63; 64..4096 are allowed");
  CHECK(failure_of("link.mtu", 4097) == "gm: link.mtu of 4097; 64..4096 are allowed");
  CHECK(failure_of("link.header", 5000) == "gm: link.header of 5000; 1..4096 are allowed");
  CHECK(failure_of("lanai.descriptor", 1025) == "gm: lanai.descriptor of 1025; 1..1024 are allowed");
  CHECK(failure_of("port.send_tokens", 3) == "gm: port.send_tokens of 3; 4..4096 are allowed");
  CHECK(failure_of("port.receive_tokens", 1) == "gm: port.receive_tokens of 1; 2..4096 are allowed");
  CHECK_FALSE(failure_of("port.hold_timer", 0).empty());
  CHECK(failure_of("link.mtu", 64).empty());
  CHECK(failure_of("port.send_tokens", 4).empty());
}

TEST_CASE("gm_ranks_are_placed_on_nodes_with_a_card") {
  std::string failure;
  try {
    const testing::World world({.ranks = 2, .topology = "crossbar:2", .node_of = {0, 2}});
  } catch (const UsageError& error) {
    failure = error.what();
  }
  CHECK(failure == "gm: rank 1 is placed on node 2, a switch; the cards are those of nodes 0..1");
}

}  // namespace
}  // namespace gasmeter::networks::gm::parameters_test
