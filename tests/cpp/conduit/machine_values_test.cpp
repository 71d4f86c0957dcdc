#include "gasmeter/conduit/machine_values.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <map>
#include <string>

#include "gasmeter/base/error.hpp"
#include "gasmeter/conduit/host_prices.hpp"

namespace gasmeter::conduit {
namespace {

std::string refusal(const auto& read) {
  try {
    (void)read();
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

bool names(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_CASE("values_are_read_in_the_units_of_the_model") {
  MachineValues machine(
      "toy",
      {{"a", 0.27e-6}, {"b", 625e6}, {"c", 64.0}, {"d", 512.0}, {"e", "mesh3d:4x4x4"}, {"f", 3.4567e-9}, {"g", 1.6e9}});
  CHECK(machine.time("a").ps == 270'000);
  CHECK(machine.per_byte_fs("b") == 1'600'000);
  CHECK(machine.bytes("c") == 64);
  CHECK(machine.count("d") == 512);
  CHECK(machine.text("e") == "mesh3d:4x4x4");
  CHECK(machine.time("f").ps == 3'457);
  CHECK(machine.per_byte_fs("g") == 625'000);
  machine.check_all_used();
}

TEST_CASE("what_a_machine_need_not_state_is_nothing_without_it") {
  MachineValues machine("toy", {{"turn", 2e-9}, {"long", 1.1e-3}, {"none", 0.0}, {"word", "fast"}});
  CHECK(machine.time_if_stated("turn").ps == 2'000);
  CHECK(machine.time_if_stated("level").ps == 0);
  CHECK(names(refusal([&] { return machine.time_if_stated("long"); }), "long is too long for what there is much of"));
  CHECK(names(refusal([&] { return machine.time_if_stated("none"); }), "none of 0 s"));
  CHECK(names(refusal([&] { return machine.time_if_stated("word"); }), "word is 'fast'; a number is needed"));
  machine.check_all_used();
}

TEST_CASE("what_is_missing_or_out_of_range_is_named") {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  MachineValues machine("toy", {{"zero", 0.0},
                                {"negative", -1.0},
                                {"huge", 1e30},
                                {"half", 1.5},
                                {"nan", std::numeric_limits<double>::quiet_NaN()},
                                {"infinite", kInfinity},
                                {"tiny", 1e-13},
                                {"word", "fast"},
                                {"number", 3.0}});
  for (const char* key : {"missing", "zero", "negative", "huge", "nan", "infinite", "word"}) {
    CAPTURE(key);
    const std::string time = refusal([&] { return machine.time(key); });
    CHECK(names(time, std::string(": ") + key + " "));
    CHECK(names(time, "toy"));
    CHECK(names(refusal([&] { return machine.per_byte_fs(key); }), key));
    CHECK(names(refusal([&] { return machine.bytes(key); }), key));
    CHECK(names(refusal([&] { return machine.count(key); }), key));
  }
  CHECK(names(refusal([&] { return machine.time("tiny"); }), "tiny"));
  CHECK(names(refusal([&] { return machine.bytes("half"); }), "half"));
  CHECK(names(refusal([&] { return machine.count("half"); }), "half"));
  CHECK(names(refusal([&] { return machine.text("number"); }), "number"));
  CHECK(names(refusal([&] { return machine.text("missing"); }), "missing"));
}

TEST_CASE("keys_that_nobody_reads_are_named") {
  MachineValues machine("toy", {{"link.latency", 1e-6}, {"link.latnecy", 1e-6}, {"oops", "x"}});
  (void)machine.time("link.latency");
  const std::string text = refusal([&] {
    machine.check_all_used();
    return 0;
  });
  CHECK(names(text, "network toy"));
  CHECK(names(text, "link.latnecy, oops"));
}

TEST_CASE("host_prices_take_every_key_of_the_host") {
  MachineValues machine("toy", {{"host.instruction", 0.6e-9},
                                {"host.poll_miss", 3.5e-9},
                                {"host.update", 60.6e-9},
                                {"host.update_in_cache", 12e-9},
                                {"host.cache", 1e6},
                                {"host.copy_start", 9e-9},
                                {"host.copy_bandwidth", 2.5e9},
                                {"host.memory_bandwidth", 20e9},
                                {"host.line_store", 50e-9},
                                {"host.line_transfer", 120e-9},
                                {"host.pio_start", 80e-9},
                                {"host.pio_bandwidth", 1.6e9},
                                {"host.uncached_read", 0.4e-6},
                                {"host.lock", 35e-9},
                                {"host.system_call", 0.15e-6},
                                {"host.registration", 3.5e-6},
                                {"host.registration_per_page", 0.4096e-6},
                                {"host.piece_copy", 3e-9},
                                {"host.loop_turn", 2e-9},
                                {"host.loop_level", 7e-9},
                                {"host.translation", 11e-9},
                                {"host.shared_access", 25e-9}});
  const HostPrices prices =
      host_prices(machine, {.call = 10, .header_build = 50, .dispatch = 75, .inject = 100, .deliver = 200});
  machine.check_all_used();
  CHECK(prices[PrivatePrice::call].of(0).ps == 6'000);
  CHECK(prices[PrivatePrice::inject].of(0).ps == 60'000);
  CHECK(prices[PrivatePrice::deliver].of(0).ps == 120'000);
  CHECK(prices[PrivatePrice::header_build].of(0).ps == 30'000);
  CHECK(prices[PrivatePrice::dispatch].of(0).ps == 45'000);
  CHECK(prices[PrivatePrice::poll_miss].of(0).ps == 3'500);
  CHECK(prices[PrivatePrice::update].of(0).ps == 60'600);
  CHECK(prices[PrivatePrice::update].of(1).ps == 12'000);
  CHECK(prices[PrivatePrice::update].of(1'000'000).ps == 12'000);
  CHECK(prices[PrivatePrice::update].of(1'000'001).ps == 60'600);
  CHECK(prices[PrivatePrice::system_call].of(0).ps == 150'000);
  CHECK(prices[SharedPrice::pio_store].of(64).ps == 120'000);
  CHECK(prices[SharedPrice::device_read].of(8).ps == 400'000);
  CHECK(prices[SharedPrice::lock].of(0).ps == 35'000);
  CHECK(prices[PrivatePrice::own_lock].of(0).ps == 35'000);
  CHECK(prices[SharedPrice::registration].of(2 * kPageBytes).ps == 3'500'000 + 2 * 409'600);
  CHECK(prices[SharedPrice::deregistration].of(2 * kPageBytes).ps == 150'000);  // deregistration enters the kernel
  CHECK(prices.copy.of(1000).ps == 409'000);
  CHECK(prices[PrivatePrice::piece_copy].of(8).ps == 3'000 + 8 * 400);
  CHECK(prices[PrivatePrice::loop_turn].of(5).ps == 5 * 2'000);
  CHECK(prices[PrivatePrice::loop_level].of(3).ps == 3 * 7'000);
  CHECK(prices[PrivatePrice::translation].of(2).ps == 2 * 11'000);
  CHECK(prices[PrivatePrice::shared_access].of(0).ps == 25'000);
  CHECK(prices.memory_per_byte_fs == 50'000);
  CHECK(prices[SharedPrice::nic_post].of(8).ps == 0);
}

TEST_CASE("a_host_may_state_what_is_counted_otherwise") {
  const std::map<std::string, MachineValues::Value> others = {
      {"host.poll_miss", 3.5e-9},     {"host.update", 60e-9},    {"host.line_store", 50e-9},
      {"host.line_transfer", 120e-9}, {"host.copy_start", 9e-9}, {"host.copy_bandwidth", 2e9}};
  const auto prices_with = [&](std::map<std::string, MachineValues::Value> values, const InstructionCounts* counts) {
    values.insert(others.begin(), others.end());
    MachineValues machine("toy", values);
    const HostPrices prices = core_prices(machine, counts);
    machine.check_all_used();
    return prices;
  };
  const InstructionCounts counts{.call = 10, .header_build = 50, .dispatch = 75, .inject = 100, .deliver = 200};
  const HostPrices stated = prices_with({{"host.instruction", 1e-9}, {"host.dispatch", 20e-9}}, &counts);
  CHECK(stated[PrivatePrice::call].of(0).ps == 10'000);
  CHECK(stated[PrivatePrice::dispatch].of(0).ps == 20'000);
  // Without counted instructions, all prices are stated ones.
  const HostPrices toy =
      prices_with({{"host.call", 9e-9}, {"host.header_build", 15e-9}, {"host.dispatch", 20e-9}}, nullptr);
  CHECK(toy[PrivatePrice::header_build].of(0).ps == 15'000);
  CHECK(toy[PrivatePrice::inject].of(0).ps == 0);
  CHECK_THROWS_AS((void)prices_with({{"host.call", 9e-9}}, &counts), UsageError);
  CHECK_THROWS_AS((void)prices_with({{"host.call", 9e-9}}, nullptr), UsageError);
}

TEST_CASE("what_a_page_costs_is_read_by_two_keys") {
  MachineValues machine("net", {{"host.deregistration", 2e-6}, {"host.deregistration_per_page", 0.1e-6}});
  const Price undone = page_price(machine, "host.deregistration", "host.deregistration_per_page");
  machine.check_all_used();
  CHECK(undone.fixed.ps == 2'000'000);
  CHECK(undone.of(3 * kPageBytes).ps == 2'000'000 + 3 * 100'000 - 1);  // femtoseconds a byte are whole numbers
}

}  // namespace
}  // namespace gasmeter::conduit
