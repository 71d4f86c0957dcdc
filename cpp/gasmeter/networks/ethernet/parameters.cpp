#include "gasmeter/networks/ethernet/parameters.hpp"

#include <string>

#include "gasmeter/base/error.hpp"
#include "gasmeter/conduit/host_prices.hpp"
#include "gasmeter/networks/ethernet/packet.hpp"

namespace gasmeter::networks::ethernet {

EthernetParameters ethernet_parameters(conduit::MachineValues& machine) {
  EthernetParameters result;
  result.link.per_byte_fs = machine.per_byte_fs("link.bandwidth");
  result.link.latency = machine.time("link.latency");
  result.link.buffer = machine.count("link.buffer");
  result.frame = machine.bytes("link.frame");
  result.least_frame = machine.bytes("link.least_frame");
  result.mtu = machine.bytes("link.mtu");
  result.nic_pipeline = machine.time("nic.pipeline");
  result.moderation = machine.time("nic.moderation");
  result.ring = machine.count("nic.ring");
  result.send = machine.time("kernel.send");
  result.fragment = machine.time("kernel.fragment");
  result.interrupt = machine.time("kernel.interrupt");
  result.input = machine.time("kernel.input");
  result.wake_up = machine.time("kernel.wake_up");
  result.receive = machine.time("kernel.receive");
  result.ioctl = machine.time("kernel.ioctl");
  result.send_buffer = machine.bytes("kernel.send_buffer");
  result.receive_buffer = machine.bytes("kernel.receive_buffer");
  check(result);
  return result;
}

conduit::HostPrices socket_host_prices(conduit::MachineValues& machine) {
  using conduit::PrivatePrice;
  conduit::HostPrices prices = conduit::core_prices(machine, &kInstructions);
  prices[PrivatePrice::update].cache = machine.bytes("host.cache");
  prices[PrivatePrice::update].cached = machine.time("host.update_in_cache");
  prices[PrivatePrice::clock_read].fixed = machine.time("host.clock_read");
  prices.memory_per_byte_fs = machine.per_byte_fs("host.memory_bandwidth");
  return prices;
}

void check(const EthernetParameters& parameters) {
  const auto refuse = [](const std::string& what) { throw UsageError("ethernet: " + what); };
  // Every IPv4 host takes 576 bytes, and a packet's length has 16 bits.
  if (parameters.mtu < 576 || parameters.mtu > kMostPacket - parameters.frame) {
    refuse("link.mtu of " + std::to_string(parameters.mtu) + " B; 576.." +
           std::to_string(kMostPacket - parameters.frame) + " are allowed");
  }
  if (parameters.frame > 4096 || parameters.least_frame > 4096) {
    refuse("link.frame of " + std::to_string(parameters.frame) + " B, link.least_frame of " +
           std::to_string(parameters.least_frame) + " B; 1..4096 are allowed");
  }
}

}  // namespace gasmeter::networks::ethernet
