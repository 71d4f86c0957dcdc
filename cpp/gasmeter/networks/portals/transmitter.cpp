#include "gasmeter/networks/portals/transmitter.hpp"

#include <algorithm>
#include <cstring>

#include "gasmeter/networks/portals/portals_network.hpp"

namespace gasmeter::networks::portals {

Transmitter::Outgoing& Transmitter::make(HeaderPacket& header) {
  if (free_.empty()) free_.push(&messages_.emplace_back());
  Outgoing& message = *free_.pop();
  message.of = this;
  message.header = &header;
  header.watched = 1;
  header.from = index(card_.node());
  header.to = index(card_.engine().node_of(header.target));
  message.to = header.to;
  header.bytes = static_cast<std::uint16_t>(card_.parameters().header);
  header.to_come = 0;
  header.state = HeaderPacket::Payload::waits;
  return message;
}

bool Transmitter::command(HeaderPacket& header, const std::byte* from, Bytes bytes, Rank owner, MdHandle md,
                          const Event& end, SimTime now) {
  Outgoing& message = make(header);
  message.from = from;
  message.bytes = bytes;
  message.left = std::min(bytes, card_.parameters().in_header);
  message.owner = owner;
  message.md = md;
  message.event = end;
  message.is_command = true;
  if (message.left != 0) std::memcpy(header.payload.data(), from, message.left);
  header.to_come = bytes - message.left;
  if (slots_ == card_.parameters().dma_slots) {
    waiting_.push(&message);
    return false;
  }
  ++slots_;
  prepare(message, now);
  return true;
}

void Transmitter::answer(HeaderPacket& header, SimTime now) {
  Outgoing& message = make(header);
  message.bytes = message.left = 0;
  message.is_command = false;
  prepare(message, now);
}

void Transmitter::post(Outgoing& message, sim::Action::Run run, SimTime at) {
  message.becomes(run);
  card_.engine().post(card_.node(), card_.node(), at, message);
}

void Transmitter::prepare(Outgoing& message, SimTime now) {
  const PortalsParameters& p = card_.parameters();
  post(message, &Transmitter::on_ready, card_.work(now, message.is_command ? p.send : p.ack));
}

// The firmware has finished the message. The payload that is not in the header is read from host memory, while other
// messages leave.
void Transmitter::on_ready(sim::Action& self, SimTime now) {
  auto& message = static_cast<Outgoing&>(self);
  Transmitter& transmitter = *message.of;
  message.ready = now + transmitter.card_.parameters().dma_start;
  transmitter.ready_.push(&message);
  transmitter.begin_next(now);
}

void Transmitter::leave(SimTime start, Bytes on_nic, Bytes on_wire, sim::Action::Run run) {
  end_ = start + card_.on_nic(on_nic);
  post(*leaving_, run, std::max(start, end_ - card_.network().fabric().on_wire(on_wire)));
}

void Transmitter::begin_next(SimTime now) {
  if (leaving_ != nullptr || ready_.empty()) return;
  leaving_ = ready_.pop();
  const Bytes header = card_.parameters().header;
  leave(std::max(now, end_), header, header, &Transmitter::on_header);
}

void Transmitter::on_header(sim::Action& self, SimTime now) {
  const auto& message = static_cast<Outgoing&>(self);
  SeaStar& card = message.of->card_;
  if (message.is_command && message.event.type == EventType::send_end) {
    Event event = message.event;
    event.type = EventType::send_start;
    card.network().portals(message.owner).tell(message.md, event, now);
  }
  card.network().fabric().inject(*message.header, now);
}

// The packet takes the bytes that the memory holds now.
void Transmitter::on_data(sim::Action& self, SimTime now) {
  auto& message = static_cast<Outgoing&>(self);
  SeaStar& card = message.of->card_;
  const PortalsParameters& p = card.parameters();
  DataPacket& packet = card.take_data();
  const Bytes size = std::min(message.bytes - message.left, kPacketsOfBurst * p.packet);
  packet.kind = static_cast<std::uint8_t>(PacketKind::payload) & 0x7fU;
  packet.watched = 1;
  packet.from = index(card.node());
  packet.to = message.to;
  packet.bytes = static_cast<std::uint16_t>((size + p.packet - 1) / p.packet * p.packet);
  packet.header = message.header;
  packet.before = message.left;
  packet.size = static_cast<std::uint16_t>(size);
  std::memcpy(packet.payload.data(), message.from + message.left, size);
  message.left += size;
  card.network().fabric().inject(packet, now);
}

// The next packet of payload, or the next message, follows when the last byte has left. Busy links thus hold up the
// card, and no queue grows without limit.
void Transmitter::departed(SimTime end) {
  end_ = std::max(end_, end);
  Outgoing& message = *leaving_;
  if (message.left != message.bytes) {
    const PortalsParameters& p = card_.parameters();
    const Bytes size = std::min(message.bytes - message.left, kPacketsOfBurst * p.packet);
    leave(std::max(end_, message.ready), size, (size + p.packet - 1) / p.packet * p.packet, &Transmitter::on_data);
    return;
  }
  leaving_ = nullptr;
  post(message, &Transmitter::on_end, end_);
}

void Transmitter::on_end(sim::Action& self, SimTime now) {
  auto& message = static_cast<Outgoing&>(self);
  Transmitter& transmitter = *message.of;
  if (message.is_command) {
    if (message.md) {
      Portals& owner = transmitter.card_.network().portals(message.owner);
      owner.tell(message.md, message.event, now);
      owner.end(message.md, now);
    }
    if (transmitter.waiting_.empty()) {
      --transmitter.slots_;
    } else {
      transmitter.prepare(*transmitter.waiting_.pop(), now);
    }
  }
  transmitter.free_.push(&message);
  transmitter.begin_next(now);
}

}  // namespace gasmeter::networks::portals
