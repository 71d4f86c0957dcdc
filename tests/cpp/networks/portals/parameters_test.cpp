// Machines with SeaStar cards: which are allowed, and the errors for others.
#include "gasmeter/networks/portals/parameters.hpp"

#include <doctest/doctest.h>

#include <string>

#include "gasmeter/base/error.hpp"
#include "networks/portals/world.hpp"
#include "support/taken_numbers.hpp"

namespace gasmeter::networks::portals::parameters_test {
namespace {

std::string failure_of(const std::string& key, double value) {
  return refusal_of<PortalsNumbers>("portals", key, value);
}

TEST_CASE("portals_parameters_are_read_by_key") {
  const PortalsParameters p = taken<PortalsNumbers>("portals").device;
  CHECK(p.nic_per_byte_fs == 500'000);
  CHECK(p.link.latency.ps == 100'000);
  CHECK(p.link.buffer == 2);
  CHECK(p.packet == 64);
  CHECK(p.header == 64);
  CHECK(p.in_header == 16);
  CHECK(p.send.ps == 500'000);
  CHECK(p.receive.ps == 800'000);
  CHECK(p.ack.ps == 400'000);
  CHECK(p.dma_start.ps == 300'000);
  CHECK(p.dma_slots == 16);
  CHECK(p.interrupt.ps == 2'000'000);
  CHECK(p.match_step.ps == 50'000);
  CHECK(p.call.ps == 800'000);
  CHECK(p.eq_empty.ps == 50'000);
  CHECK(p.eq_event.ps == 200'000);
  CHECK(p.mpi_eager == 4096);
  CHECK(p.mpi_software.ps == 300'000);
}

// 3 pages: half of 1 us and of 0.3 us when the descriptor is made, the other half when it ends. A machine that states
// neither number charges nothing.
TEST_CASE("portals_memory_descriptors_cost_half_when_made_and_half_when_ended") {
  using conduit::SharedPrice;
  const conduit::HostPrices prices = taken<PortalsNumbers>("portals").prices;
  CHECK(prices[SharedPrice::registration].of(3 * 4096).ps == doctest::Approx(650'000).epsilon(0.001));
  CHECK(prices[SharedPrice::deregistration].of(3 * 4096).ps == doctest::Approx(650'000).epsilon(0.001));
  PortalsNumbers free;
  MachineNumbers values = table(free).invented(2);
  values.erase("host.md_create");
  values.erase("host.md_page");
  conduit::MachineValues machine("portals", values);
  take(machine, free);
  CHECK(free.prices[SharedPrice::registration].of(3 * 4096).ps == 0);
}

TEST_CASE("portals_descriptors_are_paid_for_by_pages") {
  testing::World world({.registration = {{1'000'000}, 50'000}});
  const SimTime before = world.host(0).now();
  (void)world.portals(0).md_bind({.start = world.at(0), .length = 5000});
  CHECK((world.host(0).now() - before).ps == 1'409'600);
}

TEST_CASE("portals_machines_that_cannot_be_are_refused_by_name") {
  CHECK(failure_of("nic.packet", 65) == "portals: nic.packet of 65; 8..64 are allowed");
  CHECK(failure_of("nic.inline", 65) == "portals: nic.inline of 65; 1..64 are allowed");
  CHECK(failure_of("nic.header", 5000) == "portals: nic.header of 5000; 1..4096 are allowed");
  CHECK(failure_of("nic.dma_slots", 70000) == "portals: nic.dma_slots of 70000; 1..65536 are allowed");
  CHECK(failure_of("nic.packet", 8).empty());
}

TEST_CASE("portals_ranks_are_placed_on_nodes_with_a_card") {
  std::string failure;
  try {
    const testing::World world({.ranks = 2, .topology = "crossbar:2", .node_of = {0, 2}});
  } catch (const UsageError& error) {
    failure = error.what();
  }
  CHECK(failure == "portals: rank 1 is placed on node 2, a switch; the cards are those of nodes 0..1");
}

}  // namespace
}  // namespace gasmeter::networks::portals::parameters_test
