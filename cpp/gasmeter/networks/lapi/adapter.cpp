#include "gasmeter/networks/lapi/adapter.hpp"

#include <cstring>

#include "gasmeter/networks/lapi/lapi_network.hpp"

namespace gasmeter::networks::lapi {

namespace {

PacketKind kind_of(const LapiPacket& packet) {
  return static_cast<PacketKind>(packet.kind);
}

// The adapter reads data of these packets from memory. Software puts the data of other packets into the FIFO.
bool is_read_by_adapter(PacketKind kind) {
  return kind == PacketKind::rdma_put || kind == PacketKind::rdma_data;
}

}  // namespace

Adapter::Adapter(LapiNetwork& network, NodeId node)
    : network_(network),
      node_(node),
      partition_(network.engine().partition_of(node)),
      rdma_(*this),
      outgoing_(network.engine(), node, *this),
      arriving_(network.engine(), node, *this),
      incoming_(network.engine(), node, *this) {}

sim::Engine& Adapter::engine() const {
  return network_.engine();
}

const LapiParameters& Adapter::parameters() const {
  return network_.parameters();
}

LapiPacket& Adapter::make(PacketKind kind, Rank source, Rank target) {
  LapiPacket& packet = *network_.packets().take(partition_);
  packet.kind = static_cast<std::uint8_t>(kind) & 0x7fU;
  packet.from = index(node_);
  packet.to = index(engine().node_of(target));
  packet.watched = 0;
  packet.source = source;
  packet.target = target;
  packet.size = 0;
  packet.user_header = 0;
  packet.last = true;
  return packet;
}

void Adapter::give(LapiPacket& packet) {
  network_.packets().give(partition_, &packet);
}

// Pass a packet through the adapter, with its bytes to or from host memory. Return the end.
SimTime Adapter::pass(const LapiPacket& packet, SimTime now) {
  const LapiParameters& p = parameters();
  SimTime due = unit_.serve(now, p.packet);
  if (packet.size != 0) {
    due = bus_.serve(due, SimTime::of_bytes(p.adapter_per_byte_fs, packet.size));
  }
  return due + p.latency;
}

void Adapter::send(LapiPacket& packet, SimTime now) {
  packet.bytes = static_cast<std::uint16_t>(parameters().header + packet.size);
  outgoing_.push(packet, pass(packet, now));
}

// The packet takes the bytes that the memory holds now.
void Adapter::leave(LapiPacket& packet, SimTime now) {
  const PacketKind kind = kind_of(packet);
  if (is_read_by_adapter(kind)) {
    if (packet.size != 0) std::memcpy(packet.payload.data(), packet.read_at, packet.size);
  } else if (takes_slot(kind)) {
    network_.task(packet.source).slot_is_free(now);
  }
  network_.fabric().inject(packet, now);
}

// The adapter's memory takes packets as they arrive.
SimTime Adapter::arrived(LapiPacket& packet) {
  const SimTime tail = packet.tail;
  arriving_.push(packet, tail);
  return tail;
}

void Adapter::here(LapiPacket& packet, SimTime now) {
  incoming_.push(packet, pass(packet, now));
}

void Adapter::in_memory(LapiPacket& packet, SimTime now) {
  LapiTask& target = network_.task(packet.target);
  switch (kind_of(packet)) {
    case PacketKind::rdma_get:
      target.require_registered(packet.read_at, packet.total, "get in RDMA mode", packet.source);
      rdma_.answer(packet, now);
      give(packet);
      return;
    case PacketKind::rdma_put: {
      write(packet, target);
      if (packet.last) {
        LapiPacket& done = make(PacketKind::rdma_put_done, packet.target, packet.source);
        done.counter = packet.counter;
        send(done, now);
      }
      target.memory_changed(now);
      give(packet);
      return;
    }
    case PacketKind::rdma_data:
      write(packet, target);
      // Software hears of the end by the last packet, as of every arrival.
      if (packet.last) {
        target.deliver(packet, now);
      } else {
        give(packet);
      }
      return;
    default:
      target.deliver(packet, now);
      return;
  }
}

void Adapter::write(LapiPacket& packet, LapiTask& target) {
  if (packet.size == 0) return;
  target.require_registered(packet.write_at, packet.size, "transfer in RDMA mode", packet.source);
  std::memcpy(packet.write_at, packet.payload.data(), packet.size);
}

}  // namespace gasmeter::networks::lapi
