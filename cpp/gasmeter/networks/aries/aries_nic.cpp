#include "gasmeter/networks/aries/aries_nic.hpp"

#include <algorithm>
#include <cstring>

#include "gasmeter/networks/aries/aries_network.hpp"

namespace gasmeter::networks::aries {

AriesNic::AriesNic(AriesNetwork& network, NodeId node)
    : network_(network),
      node_(node),
      partition_(network.engine().partition_of(node)),
      bte_(*this),
      atomics_(*this, network.parameters().amo, network.parameters().amo_words),
      answering_(network.engine(), node, *this),
      writing_(network.engine(), node, *this) {}

sim::Engine& AriesNic::engine() const {
  return network_.engine();
}

const AriesParameters& AriesNic::parameters() const {
  return network_.parameters();
}

Domain& AriesNic::target(const RequestPacket& request) const {
  return network_.domain(request.target);
}

// ---- times

SimTime AriesNic::on_host(Bytes bytes) const {
  return SimTime::of_bytes(parameters().nic_per_byte_fs, bytes);
}

SimTime AriesNic::on_link(Bytes wire) const {
  return SimTime::of_bytes(network_.link_per_byte_fs(), wire);
}

Bytes AriesNic::payload_of(const RequestPacket& request) {
  switch (request.type) {
    case PostType::amo:
      return operands_of(request.command, request.amo_type);
    case PostType::cq_write:
      return kControlBytes;
    case PostType::fma_get:
    case PostType::rdma_get:
      return 0;
    default:
      return request.length + (request.flag != nullptr ? kFlagBytes : 0);
  }
}

// Return when the bytes of a packet are in host memory, without the latency. Bytes pass on as they arrive.
SimTime AriesNic::into_host(const sim::Packet& packet, Bytes bytes, SimTime now) {
  const SimTime work = on_host(bytes);
  return std::max(packet.tail, to_host_.serve(std::max(now, packet.tail - work), work));
}

// ---- packets

RequestPacket& AriesNic::take_request_packet() {
  RequestPacket& request = *network_.requests().take(partition_);
  request.watched = 0;
  request.from = index(node_);
  request.flag = nullptr;
  request.engine = nullptr;
  request.whole = nullptr;
  return request;
}

void AriesNic::give(RequestPacket& request) {
  network_.requests().give(partition_, &request);
}

void AriesNic::give(DataPacket& packet) {
  network_.data().give(partition_, &packet);
}

DataPacket& AriesNic::piece_of(RequestPacket& request, PacketKind kind, Bytes before, Bytes size) {
  DataPacket& piece = *network_.data().take(partition_);
  const bool ends = before + size == request.length;
  set_kind(piece, kind);
  piece.watched = 0;
  piece.from = index(node_);
  piece.to = request.from == index(node_) ? request.to : request.from;
  piece.bytes =
      static_cast<std::uint16_t>(parameters().on_wire(size) + (ends && request.flag != nullptr ? kFlagBytes : 0));
  piece.request = &request;
  piece.engine = nullptr;
  piece.before = before;
  piece.size = static_cast<std::uint16_t>(size);
  return piece;
}

RequestPacket& AriesNic::part_of(RequestPacket& whole, Bytes before, Bytes size) {
  RequestPacket& part = take_request_packet();
  set_kind(part, PacketKind::get);
  part.to = whole.to;
  part.bytes = static_cast<std::uint16_t>(parameters().on_wire(0));
  part.domain = whole.domain;
  part.origin = whole.origin;
  part.target = whole.target;
  part.type = whole.type;
  part.flow = whole.flow;
  part.cq_mode = kNoEvent;
  part.local = whole.local + before;
  part.remote = whole.remote + before;
  part.remote_memory = whole.remote_memory;
  part.length = part.to_come = size;
  part.whole = &whole;
  return part;
}

void AriesNic::inject(sim::Packet& packet, SimTime now) {
  const bool is_piece = kind_of(packet) == PacketKind::put_data || kind_of(packet) == PacketKind::got_data;
  const RequestPacket& request =
      is_piece ? *static_cast<DataPacket&>(packet).request : static_cast<RequestPacket&>(packet);
  network_.fabric().inject(packet, now, request.flow);
}

void AriesNic::turn_round(RequestPacket& request, PacketKind kind, Bytes payload) {
  std::swap(request.from, request.to);
  set_kind(request, kind);
  request.bytes = static_cast<std::uint16_t>(parameters().on_wire(payload));
}

// ---- events

void AriesNic::tell_local(const RequestPacket& request, SimTime at) {
  request.domain->queue(request.events)
      .write({EventType::local, request.target, request.post_id}, at + parameters().host_write);
}

void AriesNic::tell_remote(const RequestPacket& request, EventType type, std::uint64_t data, SimTime now) {
  Domain& to = target(request);
  to.require_events(request.remote_memory, name_of(type), request.origin);
  to.queue(to.events_of(request.remote_memory)).write_now({type, request.origin, data}, now);
}

// At its origin a post ends at `at`. A put has had its local event before.
void AriesNic::acknowledged(RequestPacket& request, SimTime at) {
  if (request.events) {
    CompletionQueue& queue = request.domain->queue(request.events);
    if ((request.cq_mode & kLocalEvent) != 0 && !is_put(request.type)) {
      queue.write({EventType::local, request.target, request.post_id}, at);
    }
    if ((request.cq_mode & kGlobalEvent) != 0) {
      queue.write({EventType::global, request.target, request.post_id}, at);
    }
  }
  give(request);
}

// ---- arrivals

SimTime AriesNic::arrived(sim::Packet& packet, SimTime now) {
  const AriesParameters& p = parameters();
  const SimTime tail = packet.tail;
  switch (kind_of(packet)) {
    case PacketKind::put_data:
    case PacketKind::got_data: {
      const SimTime in_host = into_host(packet, static_cast<DataPacket&>(packet).size, now);
      writing_.push(packet, in_host + p.pass + p.host_write);
      return in_host;
    }
    case PacketKind::put:
    case PacketKind::got:
    case PacketKind::fetched:
    case PacketKind::control: {
      const auto& request = static_cast<RequestPacket&>(packet);
      const bool is_answer = kind_of(packet) == PacketKind::fetched;
      const SimTime in_host = into_host(packet, is_answer ? size_of(request.amo_type) : request.length, now);
      writing_.push(packet, in_host + p.pass + p.host_write);
      return in_host;
    }
    case PacketKind::get:
      take_get(static_cast<RequestPacket&>(packet));
      return tail;
    case PacketKind::amo: {
      auto& request = static_cast<RequestPacket&>(packet);
      target(request).require_registered(request.remote_memory, request.remote, size_of(request.amo_type), "AMO",
                                         request.origin);
      atomics_.add(request, request.remote, tail + p.pass);
      return tail;
    }
    // The target has counted the path into memory before it sent this acknowledgement.
    case PacketKind::written:
      acknowledged(static_cast<RequestPacket&>(packet), tail + p.pass);
      return tail;
    case PacketKind::done:
      acknowledged(static_cast<RequestPacket&>(packet), tail + p.pass + p.host_write);
      return tail;
  }
  return tail;
}

void AriesNic::written(sim::Packet& packet, SimTime now) {
  if (kind_of(packet) == PacketKind::put_data || kind_of(packet) == PacketKind::got_data) {
    auto& piece = static_cast<DataPacket&>(packet);
    RequestPacket& request = *piece.request;
    const bool is_put = kind_of(packet) == PacketKind::put_data;
    if (is_put)
      target(request).require_registered(request.remote_memory, request.remote, request.length, "put", request.origin);
    std::memcpy((is_put ? request.remote : request.local) + piece.before, piece.payload.data(), piece.size);
    const Bytes size = piece.size;
    const Bytes before = piece.before;
    give(piece);
    if (!is_put) {
      got(request, before, size, now);
    } else if ((request.to_come -= size) == 0) {
      put_written(request, now);
    } else {
      wake_watcher(request.target, request.remote + before, size, now);
    }
    return;
  }
  auto& request = static_cast<RequestPacket&>(packet);
  switch (kind_of(packet)) {
    case PacketKind::put:
      if (request.length != 0) {
        target(request).require_registered(request.remote_memory, request.remote, request.length, "put",
                                           request.origin);
        std::memcpy(request.remote, request.payload.data(), request.length);
      }
      put_written(request, now);
      break;
    case PacketKind::control:
      tell_remote(request, EventType::control, request.operands[0], now);
      turn_round(request, PacketKind::written, 0);
      inject(request, now);
      break;
    case PacketKind::fetched:
      std::memcpy(request.local, request.payload.data(), size_of(request.amo_type));
      acknowledged(request, now);
      break;
    default:
      std::memcpy(request.local, request.payload.data(), request.length);
      got(request, 0, request.length, now);
  }
}

// A rank that watches the memory gets no other event.
void AriesNic::wake_watcher(Rank rank, const std::byte* memory, Bytes bytes, SimTime now) {
  if (engine().effect_of_write(rank, memory, bytes) == sim::WakeEffect::unknown) engine().wake(rank, now);
}

// ---- puts

void AriesNic::put_written(RequestPacket& request, SimTime now) {
  if (request.flag != nullptr) {
    target(request).require_registered(request.remote_memory, request.flag, kFlagBytes, "flag", request.origin);
    std::memcpy(request.flag, request.operands.data(), kFlagBytes);
  }
  if ((request.cq_mode & kRemoteEvent) != 0) tell_remote(request, EventType::remote, request.remote_event, now);
  engine().wake(request.target, now);
  turn_round(request, PacketKind::written, 0);
  inject(request, now);
}

// ---- gets

// The data are read at their turn on the link to host memory. A packet leaves with its last byte.
void AriesNic::take_get(RequestPacket& request) {
  const AriesParameters& p = parameters();
  target(request).require_registered(request.remote_memory, request.remote, request.length, "get", request.origin);
  const SimTime behind = p.pass + p.host_read;
  if (request.length <= p.packet) {
    const SimTime read = from_host(request.tail, request.length);
    turn_round(request, PacketKind::got, request.length);
    answering_.push(request, read + behind);
    return;
  }
  const SimTime asked = request.tail;
  const Bytes length = request.length;
  const std::byte* const from = request.remote;
  for (Bytes before = 0; before != length;) {
    const Bytes size = std::min(length - before, p.grain);
    DataPacket& piece = piece_of(request, PacketKind::got_data, before, size);
    piece.read_at = from + before;
    const SimTime read = from_host(asked, size);
    answering_.push(piece, read + behind - on_link(piece.bytes));
    before += size;
  }
}

void AriesNic::answer(sim::Packet& packet, SimTime now) {
  if (kind_of(packet) == PacketKind::got_data) {
    auto& piece = static_cast<DataPacket&>(packet);
    std::memcpy(piece.payload.data(), piece.read_at, piece.size);
  } else {
    auto& request = static_cast<RequestPacket&>(packet);
    if (request.length != 0) std::memcpy(request.payload.data(), request.remote, request.length);
  }
  inject(packet, now);
}

void AriesNic::got(RequestPacket& request, Bytes before, Bytes bytes, SimTime now) {
  wake_watcher(request.origin, request.local + before, bytes, now);
  request.to_come -= bytes;
  if (request.to_come != 0) return;
  if (request.whole == nullptr) return acknowledged(request, now);
  RequestPacket& whole = *request.whole;
  BteEngine& engine = *request.engine;
  const Bytes length = request.length;
  give(request);
  bte_.answered(engine, length, now);
  whole.to_come -= length;
  if (whole.to_come == 0) acknowledged(whole, now);
}

// ---- atomics

// The unit's request goes over the link when the operation arrives.
SimTime AriesNic::read_word(SimTime from) {
  const AriesParameters& p = parameters();
  return from_host(from - p.pass, sizeof(AmoOperand)) + p.pass + p.host_read;
}

SimTime AriesNic::write_word(SimTime from) {
  return to_host_.serve(from - parameters().pass, on_host(sizeof(AmoOperand)));
}

void AriesNic::atomic_done(RequestPacket& request, SimTime now) {
  const Bytes size = size_of(request.amo_type);
  AmoOperand old = 0;
  std::memcpy(&old, request.remote, size);
  const AmoOperand value = apply(request.command, request.amo_type, old, request.operands);
  std::memcpy(request.remote, &value, size);
  Domain& to = target(request);
  ++to.counters().atomics;
  if ((request.cq_mode & kRemoteEvent) != 0) tell_remote(request, EventType::remote, request.remote_event, now);
  wake_watcher(request.target, request.remote, size, now);
  turn_round(request, request.fetches ? PacketKind::fetched : PacketKind::done, request.fetches ? size : 0);
  if (request.fetches) std::memcpy(request.payload.data(), &old, sizeof old);
  inject(request, now);
}

}  // namespace gasmeter::networks::aries
