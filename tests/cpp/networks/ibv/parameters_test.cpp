// Machines with InfiniBand adapters: which are allowed, and the errors for others.
#include "gasmeter/networks/ibv/parameters.hpp"

#include <doctest/doctest.h>

#include <map>
#include <string>

#include "gasmeter/base/error.hpp"
#include "support/taken_numbers.hpp"
#include "world.hpp"

namespace gasmeter::networks::ibv::parameters_test {
namespace {

const MachineNumbers kFine{{"link.bandwidth", 4e9},
                           {"link.latency", 125e-9},
                           {"link.buffer", 16.0},
                           {"link.header", 26.0},
                           {"link.mtu", 2048.0},
                           {"hca.send_pipeline", 300e-9},
                           {"hca.receive_pipeline", 0.3e-6},
                           {"hca.queue_pair", 0.22e-6},
                           {"hca.receive_completion", 0.1e-6},
                           {"hca.host_read", 0.325e-6},
                           {"hca.descriptor", 64.0},
                           {"hca.inline_limit", 400.0},
                           {"hca.not_ready_timer", 80e-6},
                           {"host.pio_bandwidth", 3.2e9},
                           {"host.instruction", 0.375e-9}};

std::string failure_of(const std::string& key, double value) {
  return refusal_of<IbvNumbers>("ibv", key, value);
}

TEST_CASE("ibv_parameters_are_read_by_key") {
  const IbvParameters p = taken<IbvNumbers>("ibv", kFine).device;
  CHECK(p.link.per_byte_fs == 250'000);
  CHECK(p.link.latency.ps == 125'000);
  CHECK(p.link.buffer == 16);
  CHECK(p.header == 26);
  CHECK(p.mtu == 2048);
  CHECK(p.host_link_per_byte_fs == 312'500);
  CHECK(p.send_pipeline.ps == 300'000);
  CHECK(p.receive_pipeline.ps == 300'000);
  CHECK(p.queue_pair.ps == 220'000);
  CHECK(p.receive_completion.ps == 100'000);
  CHECK(p.host_read.ps == 325'000);
  CHECK(p.descriptor == 64);
  CHECK(p.inline_limit == 400);
  CHECK(p.not_ready_timer.ps == 80'000'000);
  CHECK(p.instruction.ps == 375);
}

TEST_CASE("ibv_parameters_that_cannot_be_are_named") {
  CHECK(failure_of("link.mtu", 255) == "ibv: link.mtu of 255; 256..4096 are allowed");
  CHECK(failure_of("link.mtu", 4097) == "ibv: link.mtu of 4097; 256..4096 are allowed");
  CHECK(failure_of("hca.inline_limit", 2049) == "ibv: hca.inline_limit of 2049; 0..2048 are allowed");
  CHECK(failure_of("link.header", 5000) == "ibv: link.header of 5000; 1..4096 are allowed");
  CHECK(failure_of("hca.descriptor", 1025) == "ibv: hca.descriptor of 1025; 1..1024 are allowed");
  CHECK_FALSE(failure_of("hca.not_ready_timer", 0).empty());
  CHECK(failure_of("link.mtu", 4096).empty());
}

TEST_CASE("ibv_ranks_are_placed_on_nodes_with_an_adapter") {
  std::string failure;
  try {
    const testing::World world({.ranks = 2, .topology = "crossbar:2", .node_of = {0, 2}});
  } catch (const UsageError& error) {
    failure = error.what();
  }
  CHECK(failure == "ibv: rank 1 is placed on node 2, a switch; the adapters are those of nodes 0..1");
}

}  // namespace
}  // namespace gasmeter::networks::ibv::parameters_test
