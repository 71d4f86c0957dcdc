#include "gasmeter/networks/ibv/queue_pair.hpp"

#include <algorithm>
#include <cstring>
#include <span>

#include "gasmeter/networks/ibv/ibv_context.hpp"
#include "gasmeter/networks/ibv/ibv_hca.hpp"

namespace gasmeter::networks::ibv {

namespace {

PacketKind kind_of(const IbPacket& packet) {
  return static_cast<PacketKind>(packet.kind);
}

PacketKind kind_of(Opcode opcode) {
  switch (opcode) {
    case Opcode::write:
      return PacketKind::write;
    case Opcode::read:
      return PacketKind::read_request;
    case Opcode::fetch_add:
      return PacketKind::fetch_add;
    case Opcode::compare_swap:
      return PacketKind::compare_swap;
    case Opcode::send:
    case Opcode::receive:
      break;
  }
  return PacketKind::send;
}

bool is_atomic(PacketKind kind) {
  return kind == PacketKind::fetch_add || kind == PacketKind::compare_swap;
}

Bytes header_of(Opcode opcode) {
  return is_atomic(opcode) ? kAtomicHeader : kRdmaHeader;
}

}  // namespace

QueuePair::QueuePair(IbvHca& hca, IbvContext& owner, Rank peer, std::uint8_t number, unsigned depth)
    : hca_(hca),
      owner_(owner),
      peer_(peer),
      number_(number),
      ring_(depth),
      requests_(hca.engine(), hca.node(), *this),
      timer_(*this),
      answers_(hca.engine(), hca.node(), *this) {}

Bytes QueuePair::reserved_bytes() const {
  return ring_.size() * owner_.parameters().descriptor;
}

// ---- sending

void QueuePair::post(const WorkRequest& request, SimTime now) {
  Work& entry = work(end_++);
  entry.request = request;
  entry.ready = now;
  if (request.inlined) {
    const auto* const bytes = static_cast<const std::byte*>(request.local);
    entry.bytes.assign(bytes, bytes + request.bytes);
    entry.request.local = entry.bytes.data();
  }
  begin_requests(now);
}

IbPacket& QueuePair::make_packet(PacketKind kind, std::uint64_t message) {
  IbPacket& packet = hca_.take();
  packet.kind = static_cast<std::uint8_t>(kind) & 0x7fU;
  packet.watched = 1;
  packet.from = index(hca_.node());
  packet.to = index(hca_.engine().node_of(peer_));
  packet.pair = this;
  packet.owner = owner_.rank();
  packet.peer = peer_;
  packet.number = number_;
  packet.message = message;
  return packet;
}

// The queue pair reads several packets ahead of the link, so that the link does not wait for host memory.
void QueuePair::begin_requests(SimTime now) {
  const IbvParameters& p = hca_.parameters();
  while (!waits_ && requests_under_way_ < kAhead && next_ != end_) {
    const Work& entry = work(next_);
    const WorkRequest& request = entry.request;
    const bool asks = request.opcode == Opcode::read || is_atomic(request.opcode);
    const Bytes size = asks ? 0 : std::min(request.bytes - sent_, p.mtu);
    const bool is_first = sent_ == 0;
    IbPacket& packet = make_packet(kind_of(request.opcode), next_);
    const auto* const local = static_cast<const std::byte*>(request.local);
    auto* const remote = static_cast<std::byte*>(request.remote);
    packet.read_at = asks ? remote : local + sent_;
    // A request has one const pointer for both directions. The response of a read or atomic writes there.
    packet.write_at = asks ? const_cast<std::byte*>(local) : (remote != nullptr ? remote + sent_ : nullptr);
    packet.before = sent_;
    packet.total = request.bytes;
    packet.immediate = request.immediate;
    packet.operand = request.operand;
    packet.compare = request.compare;
    packet.size = static_cast<std::uint16_t>(size);
    sent_ += size;
    packet.last = asks || sent_ == request.bytes;
    Bytes extra = 0;
    if (request.opcode != Opcode::send && is_first) extra = header_of(request.opcode);
    if (request.opcode == Opcode::send && packet.last) extra = kImmediateData;
    packet.bytes = static_cast<std::uint16_t>(p.header + extra + size);
    SimTime due = std::max(now, entry.ready);
    if (is_first) due = engine_.serve(due, p.queue_pair) - p.queue_pair;
    due += p.send_pipeline;
    if (!request.inlined && size != 0) due = hca_.read_host(due + p.host_read, size);
    if (packet.last) {
      sent_ = 0;
      ++next_;
    }
    ++requests_under_way_;
    requests_.push(packet, due);
  }
}

// The packet takes the bytes that the memory holds now. An atomic's result is in the packet already.
void QueuePair::leave(IbPacket& packet, SimTime now) {
  if (packet.size != 0 && kind_of(packet) != PacketKind::atomic_response) {
    std::memcpy(packet.payload.data(), packet.read_at, packet.size);
  }
  hca_.inject(packet, now);
}

void QueuePair::departed(PacketKind kind, SimTime end) {
  switch (kind) {
    case PacketKind::send:
    case PacketKind::write:
    case PacketKind::read_request:
    case PacketKind::fetch_add:
    case PacketKind::compare_swap:
      --requests_under_way_;
      begin_requests(end);
      return;
    case PacketKind::read_response:
    case PacketKind::atomic_response:
    case PacketKind::acknowledgement:
    case PacketKind::not_ready:
      --responses_under_way_;
      begin_responses(end);
      return;
  }
}

// Complete all work requests before number `messages`.
void QueuePair::acknowledged(std::uint64_t messages, SimTime now) {
  for (; first_ < messages; ++first_) {
    const WorkRequest& request = work(first_).request;
    if (!request.signaled) continue;
    owner_.sent().write({request.id, request.opcode, number_, peer_, request.immediate, request.bytes, first_}, now);
  }
}

void QueuePair::refused(std::uint64_t message, SimTime now) {
  acknowledged(message, now);
  next_ = message;
  sent_ = 0;
  waits_ = true;
  hca_.engine().post(hca_.node(), hca_.node(), now + hca_.parameters().not_ready_timer, timer_);
}

void QueuePair::Timer::on_due(sim::Action& self, SimTime now) {
  QueuePair& pair = static_cast<Timer&>(self).pair;
  pair.waits_ = false;
  ++pair.owner_.counters().sent_again;
  pair.begin_requests(now);
}

// ---- receiving

void QueuePair::arrived(const IbPacket& packet, SimTime now) {
  switch (kind_of(packet)) {
    case PacketKind::send:
    case PacketKind::write:
    case PacketKind::read_request:
    case PacketKind::fetch_add:
    case PacketKind::compare_swap:
      take_request(packet, now);
      return;
    case PacketKind::read_response:
    case PacketKind::atomic_response:
      owner_.write_memory(packet.write_at, {packet.payload.data(), packet.size}, packet.peer, now);
      if (packet.last) acknowledged(packet.message + 1, now);
      return;
    case PacketKind::acknowledgement:
      acknowledged(packet.message + 1, now);
      return;
    case PacketKind::not_ready:
      refused(packet.message, now);
      return;
  }
}

void QueuePair::take_request(const IbPacket& packet, SimTime now) {
  if (packet.message != expected_ || packet.before != received_) {
    ++owner_.counters().out_of_order;  // the packet follows a refused one, and its sender sends it again
    return;
  }
  const PacketKind kind = kind_of(packet);
  if (kind == PacketKind::send) {
    if (!take_send(packet, now)) return;
  } else if (kind == PacketKind::write) {
    owner_.write_memory(packet.write_at, {packet.payload.data(), packet.size}, packet.owner, now);
  } else {
    owner_.require_registered(packet.read_at, packet.total, is_atomic(kind) ? "atomic" : "read", packet.owner);
  }
  received_ += packet.size;
  if (!packet.last) return;
  received_ = 0;
  ++expected_;
  if (is_atomic(kind)) {
    respond({kind, packet.message, packet.read_at, packet.write_at, packet.total, packet.operand, packet.compare,
             packet.owner},
            now);
  } else if (kind == PacketKind::read_request) {
    respond({PacketKind::read_response, packet.message, packet.read_at, packet.write_at, packet.total}, now);
  } else {
    respond({PacketKind::acknowledgement, packet.message, nullptr, nullptr, 0}, now);
  }
}

// Take a packet of a send. Return false if there is no receive for it.
bool QueuePair::take_send(const IbPacket& packet, SimTime now) {
  if (packet.before == 0) {
    if (!owner_.take_receive(number_, receive_)) {
      ++owner_.counters().not_ready;
      respond({PacketKind::not_ready, packet.message, nullptr, nullptr, 0}, now);
      return false;
    }
    owner_.require_room(receive_, packet);
  }
  if (packet.size != 0) std::memcpy(receive_.memory.data() + packet.before, packet.payload.data(), packet.size);
  if (packet.last) {
    owner_.received().write(
        {receive_.id, Opcode::receive, number_, packet.owner, packet.immediate, packet.total, packet.message},
        now + hca_.parameters().receive_completion);
  }
  return true;
}

void QueuePair::respond(const Response& response, SimTime now) {
  responses_.push_back(response);
  begin_responses(now);
}

// The memory changes now. The answer carries the old value.
void QueuePair::do_atomic(SimTime now) {
  Response& response = responses_[first_response_];
  // An answer has one pointer to its source, which is const for a read.
  auto* const word = const_cast<std::byte*>(response.from);
  std::uint64_t old = 0;
  std::memcpy(&old, word, sizeof old);
  std::uint64_t value = old + response.operand;
  if (response.kind == PacketKind::compare_swap) value = old == response.compare ? response.operand : old;
  owner_.write_memory(word, std::as_bytes(std::span(&value, 1)), response.by, now);
  ++owner_.counters().atomics;
  response.kind = PacketKind::atomic_response;
  response.operand = old;
  is_at_atomic_ = false;
  begin_responses(now);
}

// Answers leave in order. A later work request is not acknowledged before an earlier read has been answered, and an
// atomic is done after all earlier work requests.
void QueuePair::begin_responses(SimTime now) {
  const IbvParameters& p = hca_.parameters();
  while (responses_under_way_ < kAhead && first_response_ != responses_.size()) {
    const Response& response = responses_[first_response_];
    if (is_at_atomic_) return;
    if (is_atomic(response.kind)) {
      is_at_atomic_ = true;
      hca_.atomics().add(*this, response.from, now);
      return;
    }
    const Bytes size = std::min(response.bytes - responded_, p.mtu);
    IbPacket& packet = make_packet(response.kind, response.message);
    packet.read_at = response.from + responded_;
    packet.write_at = response.to + responded_;
    packet.before = responded_;
    packet.total = response.bytes;
    packet.size = static_cast<std::uint16_t>(size);
    packet.bytes = static_cast<std::uint16_t>(p.header + kAcknowledgeHeader + size);
    SimTime due = now;
    if (response.kind == PacketKind::read_response) {
      due += p.send_pipeline;
      if (size != 0) due = hca_.read_host(due + p.host_read, size);
    } else if (response.kind == PacketKind::atomic_response) {
      due += p.send_pipeline;
      std::memcpy(packet.payload.data(), &response.operand, sizeof response.operand);
    }
    responded_ += size;
    packet.last = responded_ == response.bytes;
    if (packet.last) {
      responded_ = 0;
      if (++first_response_ == responses_.size()) {
        responses_.clear();
        first_response_ = 0;
      }
    }
    ++responses_under_way_;
    answers_.push(packet, due);
  }
}

}  // namespace gasmeter::networks::ibv
