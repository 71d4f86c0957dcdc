#include "gasmeter/networks/portals/seastar.hpp"

#include <algorithm>
#include <cstring>

#include "gasmeter/networks/portals/portals_network.hpp"

namespace gasmeter::networks::portals {

namespace {

PacketKind kind_of(const sim::Packet& packet) {
  return static_cast<PacketKind>(packet.kind);
}

bool is_operation(const HeaderPacket& header) {
  return kind_of(header) == PacketKind::put || kind_of(header) == PacketKind::get;
}

Event event_of(EventType type, const HeaderPacket& header) {
  return {.type = type,
          .initiator = header.operation.source,
          .portal = header.operation.portal,
          .match_bits = header.operation.match_bits,
          .requested = header.operation.length,
          .manipulated = header.manipulated,
          .offset = header.target_offset,
          .header_data = header.header_data};
}

}  // namespace

SeaStar::SeaStar(PortalsNetwork& network, NodeId node)
    : network_(network),
      node_(node),
      partition_(network.engine().partition_of(node)),
      transmitter_(*this),
      arriving_(network.engine(), node, *this),
      depositing_(network.engine(), node, *this) {}

sim::Engine& SeaStar::engine() const {
  return network_.engine();
}
const PortalsParameters& SeaStar::parameters() const {
  return network_.parameters();
}
Portals& SeaStar::owner(const HeaderPacket& header) const {
  return network_.portals(header.target);
}
SimTime SeaStar::on_nic(Bytes bytes) const {
  return SimTime::of_bytes(parameters().nic_per_byte_fs, bytes);
}

HeaderPacket& SeaStar::take_header() {
  return *network_.headers().take(partition_);
}
void SeaStar::give(HeaderPacket& packet) {
  network_.headers().give(partition_, &packet);
}
DataPacket& SeaStar::take_data() {
  return *network_.data().take(partition_);
}
void SeaStar::give(DataPacket& packet) {
  network_.data().give(partition_, &packet);
}

// ---- arrivals

// The card's memory takes packets as they arrive. The card looks at a header when it is complete. Payload passes on to
// host memory as it arrives, once its destination is known.
SimTime SeaStar::arrived(sim::Packet& packet, SimTime now) {
  const SimTime tail = packet.tail;
  if (kind_of(packet) != PacketKind::payload) {
    auto& header = static_cast<HeaderPacket&>(packet);
    header.card = this;
    arriving_.push(header, tail);
    return tail;
  }
  auto& data = static_cast<DataPacket&>(packet);
  switch (data.header->state) {
    case HeaderPacket::Payload::waits:
      data.header->waiting.push(&data);
      break;
    case HeaderPacket::Payload::is_written:
      write(data, now);
      break;
    case HeaderPacket::Payload::is_dropped:
      discard(data);
      break;
  }
  return tail;
}

// A card that matches does so while it handles the message.
void SeaStar::here(HeaderPacket& header, SimTime now) {
  const SimTime walk = parameters().mode == Mode::accelerated ? match(header) : SimTime{};
  header.becomes(&SeaStar::on_received);
  engine().post(node_, node_, work(now, parameters().receive + walk), header);
}

// A core that matches does all work of the message in one interrupt. The match is settled when the interrupt comes, in
// the order of messages. From then on its software changes no list. The core without a rank takes its interrupts one
// after the other, as every core does.
void SeaStar::on_received(sim::Action& self, SimTime now) {
  auto& header = static_cast<HeaderPacket&>(self);
  SeaStar& card = *header.card;
  const PortalsParameters& p = card.parameters();
  NiCounters& counters = card.owner(header).counters();
  ++counters.arrived;
  if (p.mode == Mode::accelerated) return on_known(header, now);
  ++counters.interrupts;
  header.becomes(&SeaStar::on_known);
  const SimTime amount = p.interrupt + card.match(header);
  if (p.other_core) {
    card.engine().post(card.node_, card.node_, card.core_.serve(now, card.engine().paced(card.node_, amount)), header);
  } else {
    card.engine().interrupt(header.target, amount, &header);
  }
}

// Match an operation. Return the time of the walk.
SimTime SeaStar::match(HeaderPacket& header) {
  if (!is_operation(header)) return {};
  Portals& to = owner(header);
  const Match match = to.table().match(header.operation);
  to.counters().steps += match.steps;
  header.md = match.md;
  if (match.md) to.matched(match.md);
  header.manipulated = match.length;
  header.target_offset = match.offset;
  return parameters().match_step * std::int64_t{match.steps};
}

void SeaStar::on_known(sim::Action& self, SimTime now) {
  auto& header = static_cast<HeaderPacket&>(self);
  SeaStar& card = *header.card;
  if (is_operation(header) && !header.md) return card.drop(header);
  switch (kind_of(header)) {
    case PacketKind::put:
      return card.take_put(header, now);
    case PacketKind::get:
      return card.take_get(header, now);
    case PacketKind::reply:
      return card.take_reply(header, now);
    default:
      return card.take_ack(header, now);
  }
}

void SeaStar::drop(HeaderPacket& header) {
  ++owner(header).counters().drops;
  header.state = HeaderPacket::Payload::is_dropped;
  if (header.to_come == 0) return give(header);
  // The last packet of payload takes the header with it.
  const Bytes to_come = header.to_come;
  Bytes gone = 0;
  while (!header.waiting.empty()) {
    auto& data = static_cast<DataPacket&>(*header.waiting.pop());
    gone += data.size;
    const bool is_last = gone == to_come;
    discard(data);
    if (is_last) return;
  }
}

void SeaStar::discard(DataPacket& packet) {
  HeaderPacket& header = *packet.header;
  header.to_come -= packet.size;
  give(packet);
  if (header.to_come == 0) give(header);
}

// ---- kinds of messages

void SeaStar::take_put(HeaderPacket& header, SimTime now) {
  Portals& to = owner(header);
  std::byte* const start = to.table().descriptor(header.md).start;
  to.tell(header.md, event_of(EventType::put_start, header), now);
  write(header, start + header.target_offset, header.manipulated, now);
}

void SeaStar::take_get(HeaderPacket& header, SimTime now) {
  Portals& to = owner(header);
  to.tell(header.md, event_of(EventType::get_start, header), now);
  const std::byte* const from = to.table().descriptor(header.md).start + header.target_offset;
  const MdHandle md = header.md;
  const Event end = event_of(EventType::get_end, header);
  header.kind = static_cast<std::uint8_t>(PacketKind::reply) & 0x7fU;
  const Rank asked = header.target;
  header.target = header.operation.source;
  if (!transmitter_.command(header, from, header.manipulated, asked, md, end, now)) ++to.counters().waited;
}

void SeaStar::take_reply(HeaderPacket& header, SimTime now) {
  Portals& to = owner(header);
  header.md = header.initiator_md;  // in use until the reply has come
  to.tell(header.md, event_of(EventType::reply_start, header), now);
  write(header, to.table().descriptor(header.md).start + header.initiator_offset, header.manipulated, now);
}

void SeaStar::take_ack(HeaderPacket& header, SimTime now) {
  Portals& to = owner(header);
  const MdHandle md = header.initiator_md;
  if (to.table().exists(md) && to.table().count(md)) {
    to.tell(md, event_of(EventType::ack, header), now);
    to.settle(md, now);
  } else {
    ++to.counters().drops;
  }
  give(header);
}

// ---- payload

void SeaStar::write(HeaderPacket& header, std::byte* to, Bytes bytes, SimTime now) {
  header.write_at = to;
  header.to_write = bytes;
  const Bytes in_header = std::min(bytes, parameters().in_header);
  if (in_header != 0) std::memcpy(to, header.payload.data(), in_header);
  if (header.to_come == 0) return complete(header, now);
  header.becomes(&SeaStar::on_dma);
  engine().post(node_, node_, now + parameters().dma_start, header);
}

void SeaStar::on_dma(sim::Action& self, SimTime now) {
  auto& header = static_cast<HeaderPacket&>(self);
  header.state = HeaderPacket::Payload::is_written;
  while (!header.waiting.empty()) header.card->write(static_cast<DataPacket&>(*header.waiting.pop()), now);
}

// Payload that is cut off does not go to host memory.
void SeaStar::write(DataPacket& packet, SimTime now) {
  const HeaderPacket& header = *packet.header;
  const Bytes kept =
      header.to_write > packet.before ? std::min<Bytes>(packet.size, header.to_write - packet.before) : 0;
  depositing_.push(packet, std::max(packet.tail, writing_.serve(now, on_nic(kept))));
}

void SeaStar::written(DataPacket& packet, SimTime now) {
  HeaderPacket& header = *packet.header;
  const Bytes kept =
      header.to_write > packet.before ? std::min<Bytes>(packet.size, header.to_write - packet.before) : 0;
  if (kept != 0) std::memcpy(header.write_at + packet.before, packet.payload.data(), kept);
  header.to_come -= packet.size;
  give(packet);
  if (header.to_come == 0) complete(header, now);
}

void SeaStar::complete(HeaderPacket& header, SimTime now) {
  Portals& to = owner(header);
  if (kind_of(header) == PacketKind::put) {
    const bool acks = header.wants_ack && !to.table().descriptor(header.md).no_ack;
    to.tell(header.md, event_of(EventType::put_end, header), now);
    if (acks) acknowledge(header, now);
  } else {
    to.tell(header.md, event_of(EventType::reply_end, header), now);
  }
  to.end(header.md, now);
  engine().wake(header.target, now);  // a rank that watches the memory gets no other event
  give(header);
}

void SeaStar::acknowledge(const HeaderPacket& put, SimTime now) {
  HeaderPacket& ack = take_header();
  ack.kind = static_cast<std::uint8_t>(PacketKind::ack) & 0x7fU;
  ack.operation = put.operation;
  ack.target = put.operation.source;
  ack.header_data = put.header_data;
  ack.initiator_md = put.initiator_md;
  ack.manipulated = put.manipulated;
  ack.target_offset = put.target_offset;
  transmitter_.answer(ack, now);
}

}  // namespace gasmeter::networks::portals
