#include "gasmeter/networks/gm/parameters.hpp"

#include <string>

#include "gasmeter/base/error.hpp"
#include "gasmeter/networks/gm/packet.hpp"

namespace gasmeter::networks::gm {
namespace {

void require(bool fine, const std::string& problem) {
  if (!fine) throw UsageError("gm: " + problem);
}

}  // namespace

GmParameters gm_parameters(conduit::MachineValues& machine) {
  GmParameters result;
  result.link.per_byte_fs = machine.per_byte_fs("link.bandwidth");
  result.link.latency = machine.time("link.latency");
  result.link.buffer = machine.count("link.buffer");
  result.header = machine.bytes("link.header");
  result.mtu = machine.bytes("link.mtu");
  result.pci_per_byte_fs = machine.per_byte_fs("pci.bandwidth");
  result.packet = machine.time("lanai.packet");
  result.directed = machine.time("lanai.directed");
  if (machine.states("port.gm_version")) {
    const unsigned version = machine.count("port.gm_version");
    require(version == 1 || version == 2, "port.gm_version of " + std::to_string(version) + "; 1 and 2 are allowed");
    result.gets = version == 2;
  }
  result.acknowledgement = machine.time("lanai.acknowledgement");
  result.dma_start = machine.time("lanai.dma_start");
  result.descriptor = machine.bytes("lanai.descriptor");
  result.send_tokens = machine.count("port.send_tokens");
  result.receive_tokens = machine.count("port.receive_tokens");
  result.hold_timer = machine.time("port.hold_timer");
  result.send = machine.time("host.gm_send");
  result.receive = machine.time("host.gm_receive");
  if (machine.states("host.interrupt")) result.interrupt = machine.time("host.interrupt");
  if (machine.states("host.dmaable_memory")) result.dmaable = machine.bytes("host.dmaable_memory");
  check(result);
  return result;
}

void check(const GmParameters& p) {
  const auto between = [](const char* key, Bytes value, Bytes least, Bytes most) {
    require(value >= least && value <= most, std::string(key) + " of " + std::to_string(value) + "; " +
                                                 std::to_string(least) + ".." + std::to_string(most) + " are allowed");
  };
  between("link.header", p.header, 1, 4096);
  between("link.mtu", p.mtu, kLeastMtu, kMostMtu);
  between("lanai.descriptor", p.descriptor, 1, 1024);
  // Requests and replies have a priority each. A message of GmConduit takes up to two send tokens of its priority.
  between("port.send_tokens", p.send_tokens, kLeastSendTokens, kMostTokens);
  between("port.receive_tokens", p.receive_tokens, kLeastReceiveTokens, kMostTokens);
  for (const SimTime time :
       {p.packet, p.directed, p.acknowledgement, p.dma_start, p.send, p.receive, SimTime{p.pci_per_byte_fs}}) {
    require(time.ps >= 0, "a negative cost; 0 or more is allowed");
  }
  // Otherwise a target that provides no receive would stop time.
  require(p.hold_timer.ps > 0, "port.hold_timer of 0; more is needed");
}

}  // namespace gasmeter::networks::gm
