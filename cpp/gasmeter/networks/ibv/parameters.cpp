#include "gasmeter/networks/ibv/parameters.hpp"

#include <string>

#include "gasmeter/base/error.hpp"
#include "gasmeter/networks/ibv/packet.hpp"

namespace gasmeter::networks::ibv {
namespace {

void require(bool fine, const std::string& problem) {
  if (!fine) throw UsageError("ibv: " + problem);
}

}  // namespace

IbvParameters ibv_parameters(conduit::MachineValues& machine, std::int64_t host_link_per_byte_fs) {
  IbvParameters result;
  result.link.per_byte_fs = machine.per_byte_fs("link.bandwidth");
  result.link.latency = machine.time("link.latency");
  result.link.buffer = machine.count("link.buffer");
  result.header = machine.bytes("link.header");
  result.mtu = machine.bytes("link.mtu");
  result.host_link_per_byte_fs = host_link_per_byte_fs;
  result.send_pipeline = machine.time("hca.send_pipeline");
  result.receive_pipeline = machine.time("hca.receive_pipeline");
  result.queue_pair = machine.time("hca.queue_pair");
  result.receive_completion = machine.time("hca.receive_completion");
  result.host_read = machine.time("hca.host_read");
  result.descriptor = machine.bytes("hca.descriptor");
  result.inline_limit = machine.bytes("hca.inline_limit");
  result.not_ready_timer = machine.time("hca.not_ready_timer");
  result.instruction = machine.time("host.instruction");
  check(result);
  return result;
}

void check(const IbvParameters& p) {
  const auto between = [](const char* key, Bytes value, Bytes least, Bytes most) {
    require(value >= least && value <= most, std::string(key) + " of " + std::to_string(value) + "; " +
                                                 std::to_string(least) + ".." + std::to_string(most) + " are allowed");
  };
  between("link.header", p.header, 1, 4096);
  between("link.mtu", p.mtu, kLeastMtu, kMostMtu);
  between("hca.descriptor", p.descriptor, 1, 1024);
  between("hca.inline_limit", p.inline_limit, 0, p.mtu);  // the bytes fit one packet
  for (const SimTime time : {p.send_pipeline, p.receive_pipeline, p.queue_pair, p.receive_completion, p.host_read,
                             p.instruction, SimTime{p.host_link_per_byte_fs}}) {
    require(time.ps >= 0, "a negative cost; 0 or more is allowed");
  }
  // Otherwise a target that is never ready would stop time.
  require(p.not_ready_timer.ps > 0, "hca.not_ready_timer of 0; more is needed");
}

}  // namespace gasmeter::networks::ibv
