#include "gasmeter/networks/gm/lanai.hpp"

#include <cstring>

#include "gasmeter/networks/gm/gm_network.hpp"

namespace gasmeter::networks::gm {

Lanai::Lanai(GmNetwork& network, NodeId node)
    : network_(network),
      node_(node),
      partition_(network.engine().partition_of(node)),
      outgoing_(network.engine(), node, *this),
      answers_(network.engine(), node, *this),
      arriving_(network.engine(), node, *this),
      incoming_(network.engine(), node, *this) {}

sim::Engine& Lanai::engine() const {
  return network_.engine();
}

const GmParameters& Lanai::parameters() const {
  return network_.parameters();
}

GmPacket& Lanai::take() {
  return *network_.packets().take(partition_);
}

void Lanai::give(GmPacket& packet) {
  network_.packets().give(partition_, &packet);
}

Connection& Lanai::lend_connection() {
  if (idle_.empty()) return connections_.emplace_back(*this);
  Connection& connection = *idle_.back();
  idle_.pop_back();
  return connection;
}

SimTime Lanai::dma(SimTime ready, Bytes bytes) {
  const GmParameters& p = parameters();
  return dma_.serve(ready, p.dma_start + SimTime::of_bytes(p.pci_per_byte_fs, bytes));
}

// The packet takes the bytes that the memory holds now.
void Lanai::leave(GmPacket& packet, SimTime now) {
  if (packet.size != 0) std::memcpy(packet.payload.data(), packet.read_at, packet.size);
  network_.fabric().inject(packet, now);
}

// The card's memory takes packets as they arrive. The firmware looks at a packet when it is complete. Answers are so
// short that their place in the firmware's queue is fixed when they begin to arrive.
SimTime Lanai::arrived(GmPacket& packet) {
  const SimTime tail = packet.tail;
  if (is_answer(static_cast<PacketKind>(packet.kind))) {
    packet.target->answered(packet, tail);
  } else {
    arriving_.push(packet, tail);
  }
  return tail;
}

Connection& Lanai::connection_of(const GmPacket& packet) {
  return network_.port(packet.peer).connection(packet.owner, packet.priority);
}

void Lanai::here(GmPacket& packet, SimTime now) {
  if (static_cast<PacketKind>(packet.kind) != PacketKind::get_data) packet.target = &connection_of(packet);
  packet.target->arrived(packet, now);
}

void Lanai::in_memory(GmPacket& packet, SimTime now) {
  packet.target->delivered(packet, now);
  give(packet);
}

}  // namespace gasmeter::networks::gm
