#include "gasmeter/networks/fabric/bare_network.hpp"

#include <cstring>

namespace gasmeter::networks::fabric {

using conduit::RecordedKind;
using conduit::SharedPrice;

BareNetwork::BareNetwork(sim::Engine& engine, const sim::Topology& topology, const sim::FabricParameters& links,
                         Bytes memory, std::uint32_t flow_of_puts)
    : engine_(engine),
      packets_(engine.partitions(), [&engine](unsigned partition) { return engine.take_room(partition); }),
      fabric_(engine, topology, links, *this),
      flow_of_puts_(flow_of_puts),
      memory_(memory * engine.ranks()) {
  ports_.reserve(engine.ranks());
  for (unsigned rank = 0; rank < engine.ranks(); ++rank) {
    ports_.emplace_back(*this, engine.host(Rank{rank}), std::span(memory_).subspan(rank * memory, memory));
  }
}

void PortRecord::notice_completions() {
  if (completions_.empty()) return;
  rank_.look();
  for (const Rank peer : completions_) {
    std::deque<UnderWay>& flow = under_way_[peer];
    rank_.noticed(RecordedKind::complete, peer, flow.front().bytes, 0, flow.front().sequence);
    flow.pop_front();
  }
  completions_.clear();
}

void PortRecord::notice_arrivals() {
  if (arrivals_.empty()) return;
  rank_.look();
  for (const Rank peer : arrivals_) rank_.noticed(RecordedKind::arrive, peer, kPayload, 0);
  arrivals_.clear();
}

void BarePort::put(Rank to, Bytes offset, const std::byte* from) {
  const SimTime begin = host_.now();
  host_.charge_shared(SharedPrice::nic_post);
  auto& packet = network_->packet_to(host_.rank(), to, BareNetwork::put, kPayload);
  packet.offset = offset;
  std::memcpy(packet.payload.data(), from, kPayload);
  if (GASMETER_UNLIKELY(record_ != nullptr)) record_->posted(RecordedKind::put, to, kPayload, begin);
  network_->fabric_.inject(packet, host_.now(), network_->flow_of_puts_);
}

void BarePort::fetch_add(Rank to, Bytes offset, std::uint64_t operand) {
  const SimTime begin = host_.now();
  host_.charge_shared(SharedPrice::nic_post);
  auto& packet = network_->packet_to(host_.rank(), to, BareNetwork::fetch_add, sizeof operand);
  packet.offset = offset;
  std::memcpy(packet.payload.data(), &operand, sizeof operand);
  if (GASMETER_UNLIKELY(record_ != nullptr)) record_->posted(RecordedKind::exchange, to, sizeof operand, begin);
  network_->fabric_.inject(packet, host_.now());
}

BareNetwork::Packet& BareNetwork::packet_to(Rank from, Rank to, Kind kind, Bytes payload) {
  const NodeId node = engine_.node_of(from);
  Packet& packet = *packets_.take(engine_.partition_of(node));
  packet.source = index(from);
  packet.target = index(to);
  packet.from = index(node);
  packet.to = index(engine_.node_of(to));
  packet.kind = kind & 0x7fU;
  packet.watched = 0;
  packet.bytes = static_cast<std::uint16_t>(kHeader + payload);
  return packet;
}

void BareNetwork::turn_round(Packet& packet, Kind kind, Bytes payload, SimTime now) {
  std::swap(packet.from, packet.to);
  packet.kind = kind & 0x7fU;
  packet.bytes = static_cast<std::uint16_t>(kHeader + payload);
  fabric_.inject(packet, now, kind == acknowledgement ? flow_of_puts_ : 0);
}

void BareNetwork::finish(Packet& packet, SimTime now) {
  BarePort& port = ports_[packet.source];
  ++port.completed_;
  if (GASMETER_UNLIKELY(port.record_ != nullptr)) port.record_->completed(Rank{packet.target});
  packets_.give(engine_.partition_of(NodeId{packet.to}), &packet);
  if (port.hears_completions_) engine_.wake(Rank{packet.source}, now);
}

// Handle a packet when its head arrives, though its tail comes later: the interface adds no time to the fabric's.
SimTime BareNetwork::arrived(sim::Packet& arriving, SimTime now) {
  auto& packet = static_cast<Packet&>(arriving);
  const SimTime tail = packet.tail;
  switch (packet.kind) {
    case put: {
      BarePort& target = ports_[packet.target];
      std::memcpy(target.memory_.data() + packet.offset, packet.payload.data(), kPayload);
      ++target.arrived_;
      if (GASMETER_UNLIKELY(target.record_ != nullptr)) target.record_->arrived(Rank{packet.source});
      if (target.hears_arrivals_) engine_.wake(Rank{packet.target}, now);
      turn_round(packet, acknowledgement, 0, now);
      break;
    }
    case fetch_add: {
      std::uint64_t operand = 0;
      std::uint64_t word = 0;
      std::byte* const place = ports_[packet.target].memory_.data() + packet.offset;
      std::memcpy(&operand, packet.payload.data(), sizeof operand);
      std::memcpy(&word, place, sizeof word);
      std::memcpy(packet.payload.data(), &word, sizeof word);
      word += operand;
      std::memcpy(place, &word, sizeof word);
      turn_round(packet, fetched, sizeof word, now);
      break;
    }
    case fetched:
      std::memcpy(&ports_[packet.source].fetched_, packet.payload.data(), sizeof(std::uint64_t));
      finish(packet, now);
      break;
    default:
      finish(packet, now);
  }
  return tail;
}

}  // namespace gasmeter::networks::fabric
