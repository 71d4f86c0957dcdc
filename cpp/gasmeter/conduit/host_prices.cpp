#include "gasmeter/conduit/host_prices.hpp"

#include <initializer_list>

namespace gasmeter::conduit {

void add_piece_prices(HostPrices& prices, const PiecePrices& pieces) {
  const auto state = [&prices](PrivatePrice kind, SimTime time, const Price& price) {
    if (time.ps != 0) prices[kind] = price;
  };
  const auto each = [](SimTime time) { return Price{{}, time.ps * 1000}; };
  state(PrivatePrice::piece_copy, pieces.copy, {pieces.copy, prices.copy.per_byte_fs});
  state(PrivatePrice::loop_turn, pieces.turn, each(pieces.turn));
  state(PrivatePrice::loop_level, pieces.level, each(pieces.level));
  state(PrivatePrice::translation, pieces.translation, each(pieces.translation));
}

HostPrices core_prices(MachineValues& machine, const InstructionCounts* counts) {
  HostPrices prices;
  const SimTime instruction = counts != nullptr ? machine.time_of_many("host.instruction") : SimTime{};
  const auto software = [&](PrivatePrice price, const char* key, unsigned InstructionCounts::* count) {
    const bool is_stated = counts == nullptr || machine.states(key);
    prices[price].fixed = is_stated ? machine.time(key) : instruction * std::int64_t{counts->*count};
  };
  software(PrivatePrice::call, "host.call", &InstructionCounts::call);
  software(PrivatePrice::header_build, "host.header_build", &InstructionCounts::header_build);
  software(PrivatePrice::dispatch, "host.dispatch", &InstructionCounts::dispatch);
  if (counts != nullptr) {
    prices[PrivatePrice::temporary] = {.fixed = instruction * std::int64_t{counts->large_temporary},
                                       .cache = kSmallTemporary,
                                       .cached = instruction * std::int64_t{counts->temporary}};
    prices[PrivatePrice::describe].per_byte_fs = instruction.ps * 1000;
    prices[PrivatePrice::instruction] = prices[PrivatePrice::describe];
    prices[PrivatePrice::inject].fixed = instruction * std::int64_t{counts->inject};
    prices[PrivatePrice::deliver].fixed = instruction * std::int64_t{counts->deliver};
  }
  prices[PrivatePrice::poll_miss].fixed = machine.time("host.poll_miss");
  prices[PrivatePrice::update].fixed = machine.time("host.update");
  prices[SharedPrice::line_store].fixed = machine.time("host.line_store");
  prices[SharedPrice::line_transfer].fixed = machine.time("host.line_transfer");
  prices.copy = {machine.time("host.copy_start"), machine.per_byte_fs("host.copy_bandwidth")};
  add_piece_prices(prices, {machine.time_if_stated("host.piece_copy"), machine.time_if_stated("host.loop_turn"),
                            machine.time_if_stated("host.loop_level"), machine.time_if_stated("host.translation")});
  if (machine.states("host.generate_bandwidth")) {
    prices[PrivatePrice::generate].per_byte_fs = machine.per_byte_fs("host.generate_bandwidth");
  }
  prices[PrivatePrice::shared_access].fixed = machine.time_if_stated("host.shared_access");
  prices[PrivatePrice::handle_translation].fixed = machine.time_if_stated("host.handle_translation");
  prices[PrivatePrice::address_look_up].fixed = machine.time_if_stated("host.address_look_up");
  return prices;
}

std::int64_t per_byte_of_page(SimTime page) {
  constexpr auto kOfPage = static_cast<std::int64_t>(kPageBytes);
  return page.ps / kOfPage * 1000 + page.ps % kOfPage * 1000 / kOfPage;
}

Price page_price(MachineValues& machine, const std::string& base, const std::string& per_page) {
  const SimTime page = machine.time(per_page);
  return {machine.time(base), per_byte_of_page(page)};
}

HostPrices host_prices(MachineValues& machine, const InstructionCounts& counts) {
  HostPrices prices = core_prices(machine, &counts);
  prices[PrivatePrice::update].cache = machine.bytes("host.cache");
  prices[PrivatePrice::update].cached = machine.time("host.update_in_cache");
  prices[PrivatePrice::system_call].fixed = machine.time("host.system_call");
  prices[SharedPrice::pio_store] = {machine.time("host.pio_start"), machine.per_byte_fs("host.pio_bandwidth")};
  prices[SharedPrice::device_read].fixed = machine.time("host.uncached_read");
  prices[SharedPrice::lock].fixed = machine.time("host.lock");
  prices[PrivatePrice::own_lock] = prices[SharedPrice::lock];
  prices[SharedPrice::registration] = page_price(machine, "host.registration", "host.registration_per_page");
  prices[SharedPrice::deregistration] = prices[PrivatePrice::system_call];
  prices.memory_per_byte_fs = machine.per_byte_fs("host.memory_bandwidth");
  return prices;
}

std::vector<std::string> uncharged_host_keys(const Charges& charges) {
  std::vector<std::string> keys;
  const auto unless = [&keys](bool charged, std::initializer_list<const char*> names) {
    if (!charged) keys.insert(keys.end(), names.begin(), names.end());
  };
  const bool updates = charges.has(PrivatePrice::update);
  bool counted = false;
  for (const PrivatePrice each :
       {PrivatePrice::call, PrivatePrice::header_build, PrivatePrice::dispatch, PrivatePrice::temporary,
        PrivatePrice::describe, PrivatePrice::inject, PrivatePrice::deliver}) {
    counted = counted || charges.has(each);
  }
  const bool locks = charges.has(SharedPrice::lock) || charges.has(PrivatePrice::own_lock);
  unless(counted, {"host.instruction"});
  unless(charges.has(PrivatePrice::call), {"host.call"});
  unless(charges.has(PrivatePrice::clock_read), {"host.clock_read"});
  unless(charges.has(PrivatePrice::header_build), {"host.header_build"});
  unless(charges.has(PrivatePrice::dispatch), {"host.dispatch"});
  unless(charges.has(PrivatePrice::poll_miss), {"host.poll_miss"});
  unless(updates, {"host.update"});
  unless(charges.has_cached(), {"host.update_in_cache"});
  unless(updates || charges.has_cached(), {"host.cache"});  // the size that chooses between the two
  unless(charges.has(PrivatePrice::system_call) || charges.has(SharedPrice::deregistration), {"host.system_call"});
  unless(charges.has(SharedPrice::line_store), {"host.line_store"});
  unless(charges.has(SharedPrice::line_transfer), {"host.line_transfer"});
  unless(charges.has(SharedPrice::pio_store), {"host.pio_start"});
  unless(charges.has(SharedPrice::device_read), {"host.uncached_read"});
  unless(locks, {"host.lock"});
  unless(charges.has(SharedPrice::registration), {"host.registration", "host.registration_per_page"});
  unless(charges.has(PrivatePrice::piece_copy), {"host.piece_copy"});
  unless(charges.has(PrivatePrice::loop_turn), {"host.loop_turn"});
  unless(charges.has(PrivatePrice::loop_level), {"host.loop_level"});
  unless(charges.has(PrivatePrice::translation), {"host.translation"});
  unless(charges.has(PrivatePrice::generate), {"host.generate_bandwidth"});
  unless(charges.has(PrivatePrice::shared_access), {"host.shared_access"});
  unless(charges.has(PrivatePrice::handle_translation), {"host.handle_translation"});
  unless(charges.has(PrivatePrice::address_look_up), {"host.address_look_up"});
  unless(charges.has_copy(), {"host.copy_start", "host.copy_bandwidth"});
  unless(charges.has_memory(), {"host.memory_bandwidth"});
  return keys;
}

}  // namespace gasmeter::conduit
