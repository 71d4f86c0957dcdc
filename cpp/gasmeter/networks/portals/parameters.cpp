#include "gasmeter/networks/portals/parameters.hpp"

#include <string>

#include "gasmeter/base/error.hpp"
#include "gasmeter/networks/portals/packet.hpp"

namespace gasmeter::networks::portals {

namespace {

void require(bool fine, const std::string& problem) {
  if (!fine) throw UsageError("portals: " + problem);
}

SimTime half(SimTime of) {
  return {of.ps / 2};
}

}  // namespace

PortalsParameters portals_parameters(conduit::MachineValues& machine) {
  PortalsParameters result;
  result.link.per_byte_fs = machine.per_byte_fs("link.bandwidth");
  result.link.latency = machine.time("link.latency");
  result.link.buffer = machine.count("link.buffer");
  result.nic_per_byte_fs = machine.per_byte_fs("nic.bandwidth");
  result.packet = machine.bytes("nic.packet");
  result.header = machine.bytes("nic.header");
  result.in_header = machine.bytes("nic.inline");
  result.send = machine.time("nic.send");
  result.receive = machine.time("nic.receive");
  result.ack = machine.time("nic.ack");
  result.dma_start = machine.time("nic.dma_start");
  result.dma_slots = machine.count("nic.dma_slots");
  result.interrupt = machine.time("host.interrupt");
  result.match_step = machine.time_of_many("host.match_step");
  result.call = machine.time("host.portals_call");
  result.eq_empty = machine.time("host.eq_empty");
  result.eq_event = machine.time("host.eq_event");
  result.mpi_eager = machine.bytes("mpi.eager");
  result.mpi_software = machine.time("mpi.software");
  check(result);
  return result;
}

conduit::HostPrices portals_prices(conduit::MachineValues& machine) {
  using conduit::PrivatePrice;
  using conduit::SharedPrice;
  conduit::HostPrices prices = conduit::core_prices(machine, &kInstructions);
  prices[PrivatePrice::update].cache = machine.bytes("host.cache");
  prices[PrivatePrice::update].cached = machine.time("host.update_in_cache");
  prices[PrivatePrice::system_call].fixed = machine.time("host.system_call");
  prices[SharedPrice::lock].fixed = machine.time("host.lock");
  prices[PrivatePrice::own_lock] = prices[SharedPrice::lock];
  prices.memory_per_byte_fs = machine.per_byte_fs("host.memory_bandwidth");
  // A machine that need not pin memory states neither number.
  const SimTime page = half(machine.time_if_stated("host.md_page"));
  const conduit::Price descriptor = {half(machine.time_if_stated("host.md_create")), conduit::per_byte_of_page(page)};
  prices[SharedPrice::registration] = prices[SharedPrice::deregistration] = descriptor;
  return prices;
}

void check(const PortalsParameters& p) {
  const auto between = [](const char* key, Bytes value, Bytes least, Bytes most) {
    require(value >= least && value <= most, std::string(key) + " of " + std::to_string(value) + "; " +
                                                 std::to_string(least) + ".." + std::to_string(most) + " are allowed");
  };
  between("nic.packet", p.packet, 8, kMostPacket);
  between("nic.header", p.header, 1, 4096);
  between("nic.inline", p.in_header, 1, kMostInHeader);
  between("nic.dma_slots", p.dma_slots, 1, 65536);
  for (const SimTime time : {p.send, p.receive, p.ack, p.dma_start, p.interrupt, p.match_step, p.call, p.eq_empty,
                             p.eq_event, p.mpi_software, SimTime{p.nic_per_byte_fs}}) {
    require(time.ps >= 0, "a negative cost; 0 or more is allowed");
  }
}

}  // namespace gasmeter::networks::portals
