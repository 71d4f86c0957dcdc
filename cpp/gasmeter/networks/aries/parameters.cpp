#include "gasmeter/networks/aries/parameters.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "gasmeter/base/error.hpp"
#include "gasmeter/networks/aries/packet.hpp"

namespace gasmeter::networks::aries {

namespace {

void require(bool fine, const std::string& problem) {
  if (!fine) throw UsageError("aries: " + problem);
}

}  // namespace

sim::FabricParameters AriesParameters::links_of(const sim::Topology& topology) const {
  sim::FabricParameters result(link);
  for (const std::string& name : topology.link_classes()) {
    if (name == "terminal") result.classes.emplace(name, terminal);
    if (name == "optical" || name == "global") result.classes.emplace(name, optical);
  }
  return result;
}

AriesParameters aries_parameters(conduit::MachineValues& machine, const conduit::HostPrices& prices) {
  AriesParameters result;
  const unsigned buffer = machine.count("link.buffer");
  result.link = {machine.per_byte_fs("link.bandwidth"), machine.time("link.latency"), buffer};
  result.optical = {machine.per_byte_fs("link.optical_bandwidth"), machine.time("link.optical_latency"), buffer};
  result.terminal = {machine.per_byte_fs("link.terminal_bandwidth"), machine.time("link.terminal_latency"), buffer};
  result.header = machine.bytes("link.header");
  result.packet = machine.bytes("link.packet");
  result.nic_per_byte_fs = machine.per_byte_fs("nic.bandwidth");
  result.pio_per_byte_fs = prices[conduit::SharedPrice::pio_store].per_byte_fs;
  result.request = machine.time("nic.request");
  result.pass = machine.time("nic.passage");
  result.host_read = machine.time("nic.host_read");
  result.host_write = machine.time("nic.host_write");
  result.fma_windows = machine.count("nic.fma_windows");
  result.amo = machine.time("amo.operation");
  result.amo_words = machine.count("amo.words");
  result.bte_start = machine.time("bte.start");
  result.bte_engines = machine.count("bte.engines");
  result.cq_event = machine.time("host.cq_event");
  result.cq_empty = machine.time("host.cq_empty");
  result.sharing = machine.time("host.fma_sharing");
  check(result);
  return result;
}

conduit::HostPrices aries_prices(conduit::MachineValues& machine) {
  using conduit::PrivatePrice;
  using conduit::SharedPrice;
  conduit::HostPrices prices = conduit::core_prices(machine, &kInstructions);
  prices[PrivatePrice::update].cache = machine.bytes("host.cache");
  prices[PrivatePrice::update].cached = machine.time("host.update_in_cache");
  prices[PrivatePrice::system_call].fixed = machine.time("host.system_call");
  prices[SharedPrice::lock].fixed = machine.time("host.lock");
  prices[PrivatePrice::own_lock] = prices[SharedPrice::lock];
  prices[SharedPrice::pio_store] = {machine.time("host.post"), machine.per_byte_fs("host.fma_bandwidth")};
  prices[SharedPrice::registration] = conduit::page_price(machine, "host.registration", "host.registration_per_page");
  prices[SharedPrice::deregistration].fixed = machine.time("host.deregistration");
  prices.memory_per_byte_fs = machine.per_byte_fs("host.memory_bandwidth");
  return prices;
}

void check(const AriesParameters& p) {
  const auto between = [](const char* key, Bytes value, Bytes least, Bytes most) {
    require(value >= least && value <= most, std::string(key) + " of " + std::to_string(value) + "; " +
                                                 std::to_string(least) + ".." + std::to_string(most) + " are allowed");
  };
  between("link.header", p.header, 1, 256);
  between("link.packet", p.packet, 16, kMostPacket);
  between("nic.fma_windows", p.fma_windows, 1, 65536);
  between("amo.words", p.amo_words, 1, 65536);
  between("bte.engines", p.bte_engines, 1, kMostEngines);
  between("grain", p.grain, kMostPacket, kMostGrain);
  for (const SimTime time : {p.request, p.pass, p.host_read, p.host_write, p.amo, p.bte_start, p.cq_event, p.cq_empty,
                             p.sharing, SimTime{p.nic_per_byte_fs}, SimTime{p.pio_per_byte_fs}}) {
    require(time.ps >= 0, "a negative cost; 0 or more is allowed");
  }
}

}  // namespace gasmeter::networks::aries
