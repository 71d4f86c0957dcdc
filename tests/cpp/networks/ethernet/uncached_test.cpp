// Prices without caches follow from instructions. Golden time: tests/golden/ethernet.md has the sum.
#include "gasmeter/networks/ethernet/uncached.hpp"

#include <doctest/doctest.h>

#include "gasmeter/base/error.hpp"
#include "gasmeter/networks/ethernet/raw_socket.hpp"
#include "world.hpp"

namespace gasmeter::networks::ethernet::uncached_test {
namespace {

using conduit::PrivatePrice;
using conduit::SharedPrice;

// An instruction takes 20 ns, a load or store 50 ns. With 40 of these in 100 instructions that is 40 ns an instruction.
UncachedHost host_of_test() {
  UncachedHost host;
  host.instruction = {20'000};
  host.access = {50'000};
  host.accesses = 40;
  host.copied_at_a_time = 10;
  host.instructions = {.counted = {.call = 10, .header_build = 20, .dispatch = 30, .inject = 40, .deliver = 50},
                       .copy_start = 5,
                       .update = 15,
                       .clock_read = 7,
                       .poll_miss = 100,
                       .send = 400,
                       .fragment = 200,
                       .interrupt = 300,
                       .input = 250,
                       .wake_up = 500,
                       .receive = 150,
                       .ioctl = 60};
  return host;
}

TEST_CASE("caches_off_price_software_by_what_it_does_and_nothing_else") {
  const EthernetParameters fast;
  EthernetParameters slow;
  conduit::HostPrices prices = testing::round_prices();
  switch_caches_off(host_of_test(), prices, slow);
  CHECK(prices[PrivatePrice::call].fixed.ps == 400'000);
  CHECK(prices[PrivatePrice::header_build].fixed.ps == 800'000);
  CHECK(prices[PrivatePrice::dispatch].fixed.ps == 1'200'000);
  CHECK(prices[PrivatePrice::inject].fixed.ps == 1'600'000);
  CHECK(prices[PrivatePrice::deliver].fixed.ps == 2'000'000);
  CHECK(prices[PrivatePrice::update].fixed.ps == 600'000);
  CHECK(prices[PrivatePrice::update].of(8).ps == 600'000);  // small tables are not cheaper
  CHECK(prices[PrivatePrice::clock_read].fixed.ps == 280'000);
  CHECK(prices[PrivatePrice::poll_miss].fixed.ps == 4'000'000);
  CHECK(prices[SharedPrice::line_store].fixed.ps == 50'000);
  CHECK(prices[SharedPrice::line_transfer].fixed.ps == 50'000);
  CHECK(prices.copy.of(0).ps == 200'000);
  CHECK(prices.copy.of(30).ps == 200'000 + 3 * 2 * 50'000);
  CHECK(slow.send.ps == 16'000'000);
  CHECK(slow.fragment.ps == 8'000'000);
  CHECK(slow.interrupt.ps == 12'000'000);
  CHECK(slow.input.ps == 10'000'000);
  CHECK(slow.wake_up.ps == 20'000'000);
  CHECK(slow.receive.ps == 6'000'000);
  CHECK(slow.ioctl.ps == 2'400'000);
  CHECK(slow.nic_pipeline == fast.nic_pipeline);
  CHECK(slow.moderation == fast.moderation);
  CHECK(slow.link.per_byte_fs == fast.link.per_byte_fs);
  CHECK(slow.link.latency == fast.link.latency);
  CHECK(prices.memory_per_byte_fs == testing::round_prices().memory_per_byte_fs);
}

// Prices without caches do not follow from prices with caches.
TEST_CASE("price_with_caches_is_no_part_of_the_price_without") {
  EthernetParameters switched_off;
  EthernetParameters other;
  other.send = {99'000'000};
  conduit::HostPrices prices = testing::round_prices();
  conduit::HostPrices dearer = prices;
  dearer[PrivatePrice::dispatch].fixed = {77'000};
  dearer.copy = {{5'000}, 9'000};
  switch_caches_off(host_of_test(), prices, switched_off);
  switch_caches_off(host_of_test(), dearer, other);
  CHECK(switched_off.send == other.send);
  CHECK(prices[PrivatePrice::dispatch].fixed == dearer[PrivatePrice::dispatch].fixed);
  CHECK(prices.copy.of(1000) == dearer.copy.of(1000));
}

TEST_CASE("prices_without_a_number_of_instructions_are_refused") {
  EthernetParameters parameters;
  conduit::HostPrices prices = testing::round_prices();
  prices[PrivatePrice::loop_turn].fixed = {1'000};
  CHECK_THROWS_AS(switch_caches_off(host_of_test(), prices, parameters), UsageError);
}

TEST_CASE("ping_pong_without_caches_has_its_golden_time") {
  for (const bool strict : {false, true}) {
    EthernetParameters parameters;
    sim::EngineOptions options = testing::World::options({.strict = strict});
    switch_caches_off(host_of_test(), options.prices, parameters);
    sim::Engine engine(options);
    EthernetNetwork network(engine, sim::Topology::parse("crossbar:2"), parameters);
    RawSocket rank_0(network, Rank{0}, 2);
    RawSocket rank_1(network, Rank{1}, 2);
    engine.start(Rank{0}, [&] {
      std::uint64_t word = 1;
      rank_0.send(Rank{1}, &word, sizeof word);
      CHECK(rank_0.host().now().ps == 16'280'000);
      CHECK(rank_0.receive(&word, sizeof word) == sizeof word);
      CHECK(rank_0.host().now().ps == 102'466'000);
    });
    engine.start(Rank{1}, [&] {
      std::uint64_t word = 0;
      CHECK(rank_1.receive(&word, sizeof word) == sizeof word);
      CHECK(rank_1.host().now().ps == 51'233'000);
      rank_1.send(Rank{0}, &word, sizeof word);
    });
    engine.run();
  }
}

}  // namespace
}  // namespace gasmeter::networks::ethernet::uncached_test
