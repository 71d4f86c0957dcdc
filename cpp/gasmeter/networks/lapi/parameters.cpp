#include "gasmeter/networks/lapi/parameters.hpp"

#include <string>

#include "gasmeter/base/error.hpp"
#include "gasmeter/conduit/host_prices.hpp"
#include "gasmeter/networks/lapi/packet.hpp"

namespace gasmeter::networks::lapi {
namespace {

void require(bool fine, const std::string& problem) {
  if (!fine) throw UsageError("lapi: " + problem);
}

}  // namespace

LapiParameters lapi_parameters(conduit::MachineValues& machine) {
  LapiParameters result;
  result.link.per_byte_fs = machine.per_byte_fs("link.bandwidth");
  result.link.latency = machine.time("link.latency");
  result.link.buffer = machine.count("link.buffer");
  result.header = machine.bytes("link.header");
  result.mtu = machine.bytes("link.mtu");
  result.packet = machine.time("adapter.packet");
  result.latency = machine.time("adapter.latency");
  result.adapter_per_byte_fs = machine.per_byte_fs("adapter.bandwidth");
  result.rdma_latency = machine.time("adapter.rdma_latency");
  result.handle = machine.bytes("adapter.handle");
  result.send_fifo = machine.count("task.send_fifo");
  result.window = machine.count("task.window");
  result.rdma = machine.count("task.rdma");
  result.call = machine.time("host.lapi_call");
  result.per_packet = machine.time("host.lapi_packet");
  result.header_handler = machine.time("host.header_handler");
  result.completion_handler = machine.time("host.completion_handler");
  result.interrupt = machine.time("host.interrupt");
  check(result);
  return result;
}

conduit::HostPrices lapi_prices(conduit::MachineValues& machine) {
  using conduit::PrivatePrice;
  using conduit::SharedPrice;
  conduit::HostPrices prices = conduit::core_prices(machine, &kInstructions);
  prices[PrivatePrice::update].cache = machine.bytes("host.cache");
  prices[PrivatePrice::update].cached = machine.time("host.update_in_cache");
  prices[PrivatePrice::system_call].fixed = machine.time("host.system_call");
  prices[SharedPrice::lock].fixed = machine.time("host.lock");
  prices[PrivatePrice::own_lock] = prices[SharedPrice::lock];
  prices[SharedPrice::registration] = conduit::page_price(machine, "host.registration", "host.registration_per_page");
  prices[SharedPrice::deregistration] =
      conduit::page_price(machine, "host.deregistration", "host.deregistration_per_page");
  prices.memory_per_byte_fs = machine.per_byte_fs("host.memory_bandwidth");
  return prices;
}

void check(const LapiParameters& p) {
  const auto between = [](const char* key, Bytes value, Bytes least, Bytes most) {
    require(value >= least && value <= most, std::string(key) + " of " + std::to_string(value) + "; " +
                                                 std::to_string(least) + ".." + std::to_string(most) + " are allowed");
  };
  between("link.header", p.header, 1, 4096);
  between("link.mtu", p.mtu, kLeastMtu, kMostMtu);
  between("adapter.handle", p.handle, conduit::kPageBytes, Bytes{1} << 40U);
  between("task.send_fifo", p.send_fifo, kLeastPackets, kMostPackets);
  between("task.window", p.window, kLeastPackets, kMostPackets);
  between("task.rdma", p.rdma, 1, kMostPackets);
  for (const SimTime time : {p.packet, p.latency, p.rdma_latency, p.call, p.per_packet, p.header_handler,
                             p.completion_handler, p.interrupt, SimTime{p.adapter_per_byte_fs}}) {
    require(time.ps >= 0, "a negative cost; 0 or more is allowed");
  }
}

}  // namespace gasmeter::networks::lapi
