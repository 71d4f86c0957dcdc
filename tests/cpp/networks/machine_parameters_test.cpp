// Rows that machines of several networks have, and rows of a table of any network.
#include "gasmeter/networks/machine_parameters.hpp"

#include <doctest/doctest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "gasmeter/base/error.hpp"

namespace gasmeter::networks::machine_parameters_test {
namespace {

using conduit::HostPrices;
using conduit::InstructionCounts;
using conduit::kPageBytes;
using conduit::MachineValues;
using conduit::PrivatePrice;
using conduit::SharedPrice;

constexpr InstructionCounts kCounts{.call = 10, .header_build = 50, .dispatch = 75, .inject = 100, .deliver = 200};

std::string refusal(const ParameterTable& table, const MachineNumbers& values) {
  try {
    MachineValues machine("toy", values);
    table.read(machine);
    table.check();
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST_CASE("bounds_of_whole_numbers_are_refused_on_rows_of_other_kinds") {
  SimTime time{};
  ParameterTable table("toy");
  table.time("card.start", time, 1e-6, "until a transfer begins").within(1, 2);
  CHECK_THROWS_AS(table.check(), std::logic_error);
}

TEST_CASE("card_rows_take_every_key_of_the_host") {
  HostPrices prices;
  sim::LinkParameters link;
  Bytes header = 0;
  ParameterTable table("toy");
  card_rows(table, prices, kCounts, link, header, "ring:N");
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
                                {"host.shared_access", 25e-9},
                                {"link.bandwidth", 625e6},
                                {"link.latency", 0.1e-6},
                                {"link.buffer", 4.0},
                                {"link.header", 24.0}});
  table.read(machine);
  machine.check_all_used();
  CHECK(link.per_byte_fs == 1'600'000);
  CHECK(header == 24);
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
  HostPrices prices;
  ParameterTable table("toy");
  instruction_rows(table, prices, kCounts);
  MachineValues machine("toy", {{"host.instruction", 1e-9}, {"host.dispatch", 20e-9}});
  table.read(machine);
  machine.check_all_used();
  CHECK(prices[PrivatePrice::call].of(0).ps == 10'000);
  CHECK(prices[PrivatePrice::dispatch].of(0).ps == 20'000);
  CHECK(refusal(table, {{"host.call", 9e-9}}) == "machine of network toy: host.instruction is missing");
}

TEST_CASE("what_a_machine_need_not_state_is_nothing_without_it") {
  HostPrices prices;
  ParameterTable table("toy");
  optional_rows(table, prices);
  CHECK(refusal(table, {{"host.loop_turn", 2e-9}}).empty());
  CHECK(prices[PrivatePrice::loop_turn].per_byte_fs == 2'000'000);
  CHECK(prices[PrivatePrice::loop_level].is_none());
  CHECK(refusal(table, {{"host.loop_turn", 1.1e-3}})
            .ends_with("host.loop_turn is too long for what there is much of; at most 1 ms is allowed"));
  CHECK(refusal(table, {{"host.shared_access", 0.0}}).find("host.shared_access of 0 s") != std::string::npos);
}

TEST_CASE("a_table_describes_reads_checks_and_invents") {
  SimTime gap{1'000};
  Bytes packet = 0;
  conduit::Price undone;
  const auto make = [&] {
    ParameterTable table("toy");
    placement_rows(table, "ring:N");
    table.time("nic.gap", gap, 3e-9, "pause");
    table.size("nic.packet", packet, 64.0, "payload").only({64, 128}, "64 and 128 are allowed").at_most("nic.most");
    table.optional().software("host.deregistration", undone.fixed, {}, "undone");
    table.page("host.deregistration_per_page", undone.per_byte_fs, 0.1e-6, "undone, for each page");
    table.require(gap.ps != 5'000, "nic.gap of 5 ns; others are allowed");
    table.invent({{"ranks_per_node", 2.0}});
    return table;
  };
  const MachineNumbers machine = make().invented(3);
  CHECK(machine == MachineNumbers{{"topology", "ring:3"},
                                  {"placement", "fill"},
                                  {"ranks_per_node", 2.0},
                                  {"nic.gap", 3e-9},
                                  {"nic.packet", 64.0},
                                  {"host.deregistration_per_page", 0.1e-6}});
  CHECK(refusal(make(), machine).empty());
  CHECK(gap.ps == 3'000);
  CHECK(undone.of(3 * kPageBytes).ps == 3 * 100'000 - 1);  // femtoseconds a byte are whole numbers
  const std::vector<ParameterInfo> infos = make().infos();
  REQUIRE(infos.size() == 6);
  CHECK(infos[3].at_most == "nic.most");
  CHECK(infos[4].optional);
  CHECK(infos[4].software);
  CHECK_FALSE(infos[5].optional);
  packet = 96;
  CHECK_THROWS_WITH_AS(make().check(), "toy: nic.packet of 96; 64 and 128 are allowed", UsageError);
  packet = 64;
  gap = {5'000};
  CHECK_THROWS_WITH_AS(make().check(), "toy: nic.gap of 5 ns; others are allowed", UsageError);
  gap = {-1};
  CHECK_THROWS_WITH_AS(make().check(), "toy: a negative cost; 0 or more is allowed", UsageError);
}

}  // namespace
}  // namespace gasmeter::networks::machine_parameters_test
