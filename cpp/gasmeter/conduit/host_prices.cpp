#include "gasmeter/conduit/host_prices.hpp"

namespace gasmeter::conduit {

HostPrices core_prices(MachineValues& machine) {
  HostPrices prices;
  prices[PrivatePrice::call].fixed = machine.time("host.call");
  prices[PrivatePrice::header_build].fixed = machine.time("host.header_build");
  prices[PrivatePrice::dispatch].fixed = machine.time("host.dispatch");
  prices[PrivatePrice::poll_miss].fixed = machine.time("host.poll_miss");
  prices[PrivatePrice::update].fixed = machine.time("host.update");
  prices[SharedPrice::line_store].fixed = machine.time("host.line_store");
  prices[SharedPrice::line_transfer].fixed = machine.time("host.line_transfer");
  prices.copy = {machine.time("host.copy_start"), machine.per_byte_fs("host.copy_bandwidth")};
  return prices;
}

HostPrices host_prices(MachineValues& machine) {
  HostPrices prices = core_prices(machine);
  prices[PrivatePrice::update].cache = machine.bytes("host.cache");
  prices[PrivatePrice::update].cached = machine.time("host.update_in_cache");
  prices[PrivatePrice::system_call].fixed = machine.time("host.system_call");
  prices[SharedPrice::pio_store] = {machine.time("host.pio_start"), machine.per_byte_fs("host.pio_bandwidth")};
  prices[SharedPrice::device_read].fixed = machine.time("host.uncached_read");
  prices[SharedPrice::lock].fixed = machine.time("host.lock");
  prices[PrivatePrice::own_lock] = prices[SharedPrice::lock];
  const SimTime page = machine.time("host.registration_per_page");
  prices[SharedPrice::registration] = {machine.time("host.registration"),
                                       page.ps * 1000 / static_cast<std::int64_t>(kPageBytes)};
  prices.memory_per_byte_fs = machine.per_byte_fs("host.memory_bandwidth");
  return prices;
}

}  // namespace gasmeter::conduit
