#include "gasmeter/networks/sci/parameters.hpp"

#include <string>

#include "gasmeter/base/error.hpp"
#include "gasmeter/networks/sci/packet.hpp"

namespace gasmeter::networks::sci {
namespace {

void require(bool fine, const std::string& problem) {
  if (!fine) throw UsageError("sci: " + problem);
}

}  // namespace

SciParameters sci_parameters(conduit::MachineValues& machine, std::int64_t host_link_per_byte_fs) {
  SciParameters result;
  result.link.per_byte_fs = machine.per_byte_fs("link.bandwidth");
  result.link.latency = machine.time("link.latency");
  result.link.buffer = machine.count("link.buffer");
  result.header = machine.bytes("link.header");
  result.echo = machine.bytes("link.echo");
  result.turn = machine.time("link.turn");
  result.outstanding = machine.count("bridge.outstanding");
  result.gather = machine.bytes("bridge.gather");
  result.send = machine.time("bridge.send");
  result.receive = machine.time("bridge.receive");
  result.read = machine.time("bridge.read");
  result.host_link_per_byte_fs = host_link_per_byte_fs;
  result.dma_start = machine.time("dma.start");
  result.dma_per_byte_fs = machine.per_byte_fs("dma.bandwidth");
  result.map = machine.time("driver.map");
  result.segment_limit = machine.bytes("driver.segment_limit");
  result.instruction = machine.time("host.instruction");
  check(result);
  return result;
}

void check(const SciParameters& p) {
  const auto between = [](const char* key, Bytes value, Bytes least, Bytes most) {
    require(value >= least && value <= most, std::string(key) + " of " + std::to_string(value) + "; " +
                                                 std::to_string(least) + ".." + std::to_string(most) + " are allowed");
  };
  between("link.header", p.header, 1, 4096);
  between("link.echo", p.echo, 1, 4096);
  between("bridge.outstanding", p.outstanding, 1, 65535);
  require(p.gather == kLine || p.gather == kLargestPacket,
          "bridge.gather of " + std::to_string(p.gather) + "; the card has packets of 64 and of 128 bytes");
  for (const SimTime time : {p.turn, p.send, p.receive, p.read, p.dma_start, p.map, p.instruction,
                             SimTime{p.host_link_per_byte_fs}, SimTime{p.dma_per_byte_fs}}) {
    require(time.ps >= 0, "a negative cost; 0 or more is allowed");
  }
}

}  // namespace gasmeter::networks::sci
