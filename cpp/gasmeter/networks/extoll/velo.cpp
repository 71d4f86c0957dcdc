#include "gasmeter/networks/extoll/velo.hpp"

#include <utility>

#include "gasmeter/networks/extoll/extoll_network.hpp"

namespace gasmeter::networks::extoll {

Velo::Velo(ExtollNic& nic)
    : nic_(nic),
      storing_(nic.engine(), nic.node(), *this),
      pointers_(nic.engine(), nic.node(), *this),
      sending_(nic.engine(), nic.node(), *this),
      receiving_(nic.engine(), nic.node(), *this),
      writing_(nic.engine(), nic.node(), *this),
      outlet_(nic) {}

void Velo::stored(VeloPacket& packet, SimTime now) {
  storing_.push(packet, nic_.to_card().end(nic_.parameters().velo_payload + kVeloStatus, now), now);
}

void Velo::take(VeloPacket& packet, SimTime now) {
  const ExtollParameters& p = nic_.parameters();
  const SimTime busy = p.velo_send_engine + nic_.on_path(packet);
  sending_.push(packet, engine_.serve(now, busy) - busy + p.velo_send_pipeline);
}

void Velo::read_pointer(const ReadPointer& pointer, SimTime now) {
  pointers_.push(pointer, nic_.to_card().end(kReadPointer, now), now);
}

void Velo::take_pointer(const ReadPointer& pointer, SimTime now) {
  pointer.port->slots_freed(pointer.freed, now);
}

void Velo::leave(VeloPacket& packet, SimTime now) {
  outlet_.submit(packet, now);
}

void Velo::arrived(VeloPacket& packet, SimTime in_card) {
  receiving_.push(packet, in_card + nic_.parameters().velo_receive_engine);
}

void Velo::deliver(VeloPacket& packet, SimTime now) {
  ExtollPort& port = nic_.port_of(packet.status.process);
  if (static_cast<PacketKind>(packet.kind) == PacketKind::drop_notice) {
    const Notification notice{Notification::Kind::dropped, packet.status.tag, packet.status.source, 0, nullptr};
    nic_.notifications().write(port.rank(), notice, now);
    nic_.give(packet);
    return;
  }
  switch (port.deliver(packet)) {
    case Mailed::to_slot:
      writing_.push(packet, nic_.to_host().end(bytes_in_slot(packet), now), now);
      break;
    case Mailed::held:
      break;
    case Mailed::dropped:
      return_notice(packet, now);
      break;
  }
}

void Velo::write_held(VeloPacket& packet, SimTime now) {
  writing_.push(packet, nic_.to_host().begin(bytes_in_slot(packet), now), now);
}

void Velo::written(VeloPacket& packet, SimTime now) {
  nic_.port_of(packet.status.process).written(packet, now);
}

Bytes Velo::bytes_in_slot(const VeloPacket& packet) const {
  return packet.bytes - nic_.parameters().header;
}

// The same packet returns without its payload.
void Velo::return_notice(VeloPacket& packet, SimTime now) {
  const ExtollPort& full = nic_.port_of(packet.status.process);
  std::swap(packet.from, packet.to);
  packet.kind = static_cast<std::uint8_t>(PacketKind::drop_notice) & 0x7fU;
  packet.bytes = static_cast<std::uint16_t>(nic_.parameters().header + kVeloStatus);
  packet.status.process = nic_.network().process_of(packet.status.source);
  packet.status.source = full.rank();
  outlet_.submit(packet, now);
}

}  // namespace gasmeter::networks::extoll
