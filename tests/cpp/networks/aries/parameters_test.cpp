// Machines with Aries cards: which are allowed, and the errors for others.
#include "gasmeter/networks/aries/parameters.hpp"

#include <doctest/doctest.h>

#include <string>

#include "gasmeter/base/error.hpp"
#include "networks/aries/world.hpp"
#include "support/taken_numbers.hpp"

namespace gasmeter::networks::aries::parameters_test {
namespace {

std::string failure_of(const std::string& key, double value) {
  return refusal_of<AriesNumbers>("aries", key, value);
}

TEST_CASE("aries_parameters_are_read_by_key") {
  const auto numbers = taken<AriesNumbers>("aries");
  const conduit::HostPrices& prices = numbers.prices;
  const AriesParameters& p = numbers.device;
  CHECK(p.link.per_byte_fs == 200'000);
  CHECK(p.link.latency.ps == 100'000);
  CHECK(p.link.buffer == 8);
  CHECK(p.optical.per_byte_fs == 250'000);
  CHECK(p.optical.latency.ps == 200'000);
  CHECK(p.terminal.per_byte_fs == 100'000);
  CHECK(p.terminal.latency.ps == 50'000);
  CHECK(p.header == 24);
  CHECK(p.packet == 64);
  CHECK(p.nic_per_byte_fs == 100'000);
  CHECK(p.pio_per_byte_fs == 250'000);
  CHECK(p.request.ps == 8'000);
  CHECK(p.pass.ps == 150'000);
  CHECK(p.host_read.ps == 500'000);
  CHECK(p.host_write.ps == 250'000);
  CHECK(p.fma_windows == 64);
  CHECK(p.amo.ps == 15'000);
  CHECK(p.amo_words == 4);
  CHECK(p.bte_start.ps == 1'000'000);
  CHECK(p.bte_engines == 2);
  CHECK(p.cq_event.ps == 100'000);
  CHECK(p.cq_empty.ps == 50'000);
  CHECK(p.sharing.ps == 500'000);
  using conduit::SharedPrice;
  CHECK(prices[SharedPrice::pio_store].of(100).ps == 200'000 + 25'000);
  CHECK(prices[SharedPrice::registration].of(4096).ps == doctest::Approx(2'200'000).epsilon(0.001));
  CHECK(prices[SharedPrice::deregistration].of(4096).ps == 1'000'000);
}

TEST_CASE("aries_machines_that_cannot_be_are_refused_by_name") {
  CHECK(failure_of("link.packet", 65) == "aries: link.packet of 65; 16..64 are allowed");
  CHECK(failure_of("link.header", 300) == "aries: link.header of 300; 1..256 are allowed");
  CHECK(failure_of("bte.engines", 9) == "aries: bte.engines of 9; 1..8 are allowed");
  CHECK(failure_of("amo.words", 70000) == "aries: amo.words of 70000; 1..65536 are allowed");
  CHECK(failure_of("bte.engines", 1).empty());
}

// 64 B have one header, 65 B have two.
TEST_CASE("aries_payload_has_a_header_for_each_packet") {
  const AriesParameters p;
  CHECK(p.on_wire(0) == 24);
  CHECK(p.on_wire(64) == 88);
  CHECK(p.on_wire(65) == 113);
  CHECK(p.on_wire(1024) == 1024 + 16 * 24);
}

TEST_CASE("aries_links_are_of_the_classes_that_the_topology_has") {
  AriesParameters p;
  p.terminal.latency.ps = 1;
  p.optical.latency.ps = 2;
  const auto latencies = [&](const char* topology) {
    std::string text;
    for (const auto& [name, links] : p.links_of(sim::Topology::parse(topology)).classes) {
      text += name + " " + std::to_string(links.latency.ps) + ";";
    }
    return text;
  };
  CHECK(latencies("torus3d:2x2x2").empty());
  CHECK(latencies("crossbar:4") == "terminal 1;");
  CHECK(latencies("dragonfly:2x4x4") == "global 2;terminal 1;");
}

TEST_CASE("aries_ranks_are_placed_on_nodes_with_a_card_and_as_many_as_it_has_windows") {
  const auto failure = [](const testing::Shape& shape, const AriesParameters& parameters) -> std::string {
    try {
      const testing::World world(shape, parameters);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "";
  };
  CHECK(failure({.ranks = 2, .node_of = {0, 2}}, {}) ==
        "aries: rank 1 is placed on node 2, a switch; the cards are those of nodes 0..1");
  const testing::Shape three{.ranks = 4, .node_of = {0, 0, 0, 1}};
  CHECK(failure(three, {.fma_windows = 2}) ==
        "aries: 3 ranks on node 0 for nic.fma_windows of 2; as many are allowed, or option 'fma=shared'");
  CHECK(failure(three, {.fma_windows = 3}).empty());
  CHECK(failure(three, {.fma_windows = 2, .shared_fma = true}).empty());
}

TEST_CASE("aries_shared_windows_cost_more_a_post_and_engines_do_not") {
  for (const bool shared : {false, true}) {
    testing::World world({}, {.shared_fma = shared});
    world.engine.start(Rank{0}, [&] {
      world.domain(0).post_fma(world.endpoint(0, 1), world.transfer(PostType::fma_put, 0, 1, 8));
      CHECK(world.host(0).now().ps == (shared ? 1'048'000 : 48'000));
      const SimTime before = world.host(0).now();
      world.domain(0).post_rdma(world.endpoint(0, 1), world.transfer(PostType::rdma_put, 0, 1, 8));
      CHECK((world.host(0).now() - before).ps == 40'000);
    });
    world.engine.start(Rank{1}, [] {});
    world.engine.run();
  }
}

}  // namespace
}  // namespace gasmeter::networks::aries::parameters_test
