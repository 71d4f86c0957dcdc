#include "gasmeter/networks/extoll/velo.hpp"

#include <utility>

#include "gasmeter/networks/extoll/extoll_network.hpp"

namespace gasmeter::networks::extoll {

Velo::Velo(ExtollNic& nic)
    : nic_(nic), sending_(nic.engine(), nic.node(), *this), receiving_(nic.engine(), nic.node(), *this), outlet_(nic) {}

void Velo::stored(VeloPacket& packet, SimTime now) {
  const ExtollParameters& p = nic_.parameters();
  const SimTime begun = engine_.serve(now, p.velo_send_engine) - p.velo_send_engine;
  sending_.push(packet, begun + p.velo_send_pipeline);
}

void Velo::leave(VeloPacket& packet, SimTime now) {
  outlet_.submit(packet, now);
}

void Velo::arrived(VeloPacket& packet, SimTime here) {
  receiving_.push(packet, here + nic_.parameters().velo_receive_engine);
}

void Velo::deliver(VeloPacket& packet, SimTime now) {
  ExtollPort& port = nic_.port_of(packet.status.process);
  if (static_cast<PacketKind>(packet.kind) == PacketKind::drop_notice) {
    const Notification notice{Notification::Kind::dropped, packet.status.tag, packet.status.source, 0, nullptr};
    nic_.notifications().write(port.rank(), notice, now);
    nic_.give(packet);
  } else if (!port.deliver(packet, now)) {
    return_notice(packet, now);
  }
}

// The same packet goes back, without its payload.
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
