// Machines with SCI cards: which are allowed, and the errors for others.
#include "gasmeter/networks/sci/parameters.hpp"

#include <doctest/doctest.h>

#include <map>
#include <string>
#include <vector>

#include "gasmeter/base/error.hpp"
#include "networks/sci/world.hpp"
#include "support/taken_numbers.hpp"

namespace gasmeter::networks::sci::parameters_test {
namespace {

const MachineNumbers kFine{
    {"link.bandwidth", 662.5e6},   {"link.latency", 150e-9},    {"link.buffer", 16.0},
    {"link.header", 20.0},         {"link.echo", 8.0},          {"link.turn", 400e-9},
    {"bridge.outstanding", 16.0},  {"bridge.gather", 128.0},    {"bridge.send", 0.6e-6},
    {"bridge.receive", 0.7e-6},    {"bridge.read", 5e-6},       {"dma.start", 30e-6},
    {"dma.bandwidth", 250e6},      {"driver.map", 200e-6},      {"driver.segment_limit", 2097152.0},
    {"host.pio_bandwidth", 250e6}, {"host.instruction", 0.6e-9}};

std::string failure_of(const std::string& key, double value) {
  return refusal_of<SciNumbers>("sci", key, value);
}

template <class Make>
std::string failure_of(Make make) {
  try {
    make();
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST_CASE("sci_parameters_are_read_by_key") {
  const SciParameters p = taken<SciNumbers>("sci", kFine).device;
  CHECK(p.link.per_byte_fs == 1'509'434);
  CHECK(p.link.latency.ps == 150'000);
  CHECK(p.link.buffer == 16);
  CHECK(p.header == 20);
  CHECK(p.echo == 8);
  CHECK(p.turn.ps == 400'000);
  CHECK(p.outstanding == 16);
  CHECK(p.gather == 128);
  CHECK(p.send.ps == 600'000);
  CHECK(p.receive.ps == 700'000);
  CHECK(p.read.ps == 5'000'000);
  CHECK(p.host_link_per_byte_fs == 4'000'000);
  CHECK(p.dma_start.ps == 30'000'000);
  CHECK(p.dma_per_byte_fs == 4'000'000);
  CHECK(p.map.ps == 200'000'000);
  CHECK(p.segment_limit == 2097152);
  CHECK(p.instruction.ps == 600);
}

TEST_CASE("sci_parameters_that_cannot_be_are_named") {
  CHECK(failure_of("link.header", 4097) == "sci: link.header of 4097; 1..4096 are allowed");
  CHECK(failure_of("link.echo", 4097) == "sci: link.echo of 4097; 1..4096 are allowed");
  CHECK(failure_of("bridge.outstanding", 65536) == "sci: bridge.outstanding of 65536; 1..65535 are allowed");
  for (const std::string key : {"link.header", "link.echo", "bridge.outstanding"})
    CHECK_FALSE(failure_of(key, 0).empty());
  CHECK(failure_of("bridge.gather", 32) == "sci: bridge.gather of 32; the card has packets of 64 and of 128 bytes");
  CHECK(failure_of("bridge.gather", 256) == "sci: bridge.gather of 256; the card has packets of 64 and of 128 bytes");
  CHECK(failure_of("bridge.gather", 64).empty());
  CHECK(failure_of("bridge.outstanding", 1).empty());
}

TEST_CASE("sci_needs_rings_that_go_one_way") {
  CHECK(failure_of([] { const testing::World world({.topology = "torus2d:2x2"}); }) ==
        "sci: the links of torus2d:2x2 go both ways, and those of SCI are rings that go one way; take oneway-ring:N, "
        "oneway-torus2d:AxB or oneway-torus3d:AxBxC");
  for (const std::string topology : {"oneway-ring:3", "oneway-torus2d:3x2", "oneway-torus3d:2x2x2"}) {
    CAPTURE(topology);
    CHECK(failure_of([&] { const testing::World world({.topology = topology}); }).empty());
  }
}

TEST_CASE("sci_a_card_tells_so_many_ranks_apart") {
  const auto ranks_on_one_node = [](unsigned ranks) {
    return failure_of(
        [&] { const testing::World world({.ranks = ranks, .node_of = std::vector<std::uint32_t>(ranks, 1)}); });
  };
  CHECK(ranks_on_one_node(30).empty());
  CHECK(ranks_on_one_node(31) == "sci: 31 ranks on node 1; a card tells 30 apart");
}

}  // namespace
}  // namespace gasmeter::networks::sci::parameters_test
