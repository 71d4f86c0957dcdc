#include "gasmeter/networks/extoll/parameters.hpp"

#include <string>

#include "gasmeter/base/error.hpp"
#include "gasmeter/networks/extoll/packet.hpp"

namespace gasmeter::networks::extoll {
namespace {

void require(bool fine, const std::string& problem) {
  if (!fine) throw UsageError("extoll: " + problem);
}

}  // namespace

ExtollParameters extoll_parameters(conduit::MachineValues& machine, std::int64_t host_link_per_byte_fs) {
  ExtollParameters result;
  result.link.per_byte_fs = machine.per_byte_fs("link.bandwidth");
  result.link.latency = machine.time("link.latency");
  result.link.buffer = machine.count("link.buffer");
  result.header = machine.bytes("link.header");
  result.host_link_per_byte_fs = host_link_per_byte_fs;
  result.velo_payload = machine.bytes("velo.payload");
  result.mailbox_slots = machine.count("velo.mailbox_slots");
  result.velo_send_pipeline = machine.time("velo.send_pipeline");
  result.velo_send_engine = machine.time("velo.send_engine");
  result.velo_receive_engine = machine.time("velo.receive_engine");
  result.read_pointer_update = machine.count("velo.read_pointer_update");
  result.packet = machine.bytes("link.packet");
  result.descriptor = machine.bytes("rma.descriptor");
  result.notification = machine.bytes("rma.notification");
  result.requester = machine.time("rma.requester");
  result.completer = machine.time("rma.completer");
  result.responder = machine.time("rma.responder");
  result.host_read = machine.time("rma.host_read");
  result.notification_slots = machine.count("rma.notification_slots");
  check(result);
  return result;
}

void check(const ExtollParameters& p) {
  const auto at_most = [](const char* key, Bytes value, Bytes most) {
    require(value >= 1 && value <= most,
            std::string(key) + " of " + std::to_string(value) + "; 1.." + std::to_string(most) + " are allowed");
  };
  at_most("link.header", p.header, 4096);
  at_most("link.packet", p.packet, kMaxRmaPayload);
  at_most("velo.payload", p.velo_payload, kVeloPayload);
  at_most("velo.mailbox_slots", p.mailbox_slots, 1U << 20U);
  // Otherwise the card would never hear that a full mailbox has free slots.
  at_most("velo.read_pointer_update", p.read_pointer_update, p.mailbox_slots);
  at_most("rma.descriptor", p.descriptor, kMaxRmaPayload);
  at_most("rma.notification", p.notification, 64);
  at_most("rma.notification_slots", p.notification_slots, 1U << 20U);
  for (const SimTime time : {p.velo_send_pipeline, p.velo_send_engine, p.velo_receive_engine, p.requester, p.completer,
                             p.responder, p.host_read, SimTime{p.host_link_per_byte_fs}}) {
    require(time.ps >= 0, "a negative cost; 0 or more is allowed");
  }
}

}  // namespace gasmeter::networks::extoll
