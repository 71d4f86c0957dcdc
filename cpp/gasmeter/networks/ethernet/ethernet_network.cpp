#include "gasmeter/networks/ethernet/ethernet_network.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "gasmeter/base/error.hpp"
#include "gasmeter/sim/trace/tracer.hpp"

namespace gasmeter::networks::ethernet {

namespace {

const EthernetParameters& checked(const EthernetParameters& parameters) {
  check_device<EthernetNumbers>(parameters);
  return parameters;
}

}  // namespace

EthernetNetwork::EthernetNetwork(sim::Engine& engine, sim::Topology topology, const EthernetParameters& parameters,
                                 Waiting waiting)
    : engine_(engine),
      parameters_(checked(parameters)),
      waiting_(waiting),
      packets_(engine.partitions()),
      fabric_(engine, std::move(topology), parameters.link, *this),
      kernels_(engine.nodes()) {
  const std::uint32_t hosts = fabric_.topology().terminals();
  for (std::uint32_t rank = 0; rank < engine.ranks(); ++rank) {
    const std::uint32_t node = index(engine.node_of(Rank{rank}));
    if (node >= hosts) {
      throw UsageError("ethernet: rank " + std::to_string(rank) + " is placed on node " + std::to_string(node) +
                       ", a switch; the hosts are nodes 0.." + std::to_string(hosts - 1));
    }
    for (std::uint32_t i = 0; i < kSocketsPerRank; ++i) {
      sockets_.emplace_back(*this, engine.host(Rank{rank}), kSocketsPerRank * rank + i);
    }
  }
}

EthernetCounters EthernetNetwork::counters() const {
  EthernetCounters sum;
  for (const Kernel& kernel : kernels_) {
    sum.interrupts += kernel.counters.interrupts;
    sum.packets += kernel.counters.packets;
    sum.ring_drops += kernel.counters.ring_drops;
    sum.incomplete += kernel.counters.incomplete;
    sum.datagrams += kernel.counters.datagrams;
    sum.overflow_drops += kernel.counters.overflow_drops;
  }
  return sum;
}

void EthernetNetwork::name_steps(sim::Tracer& tracer) const {
  fabric_.name_steps(tracer);
  tracer.name(&EthernetNetwork::on_received, sim::Step::device);
  tracer.name(&EthernetNetwork::on_input, sim::Step::driver);
  tracer.name(&EthernetSocket::wake, sim::Step::driver);
}

Bytes EthernetNetwork::send(IpPacket& packet, Rank from, Rank to, SimTime now) {
  packet.network = this;
  packet.from = index(engine_.node_of(from));
  packet.to = index(engine_.node_of(to));
  packet.kind = 0;
  const bool is_near = packet.from == packet.to;
  packet.watched = is_near ? 0 : 1;
  Bytes bytes = packet.payload.size() + kIpHeader + (packet.offset == 0 ? kUdpHeader : 0);
  if (!is_near) bytes = std::max(bytes + parameters_.frame, parameters_.least_frame);
  packet.bytes = static_cast<std::uint16_t>(bytes);
  fabric_.inject(packet, now);
  return is_near ? 0 : bytes;
}

void EthernetNetwork::departed(sim::Packet& packet, SimTime end) {
  const auto& leaving = static_cast<IpPacket&>(packet);
  sockets_[leaving.source].departed(leaving.bytes, end);
}

SimTime EthernetNetwork::arrived(sim::Packet& arriving, SimTime now) {
  auto& packet = static_cast<IpPacket&>(arriving);
  const SimTime tail = packet.tail;
  if (packet.from == packet.to) {
    // Without a card in between, the sender's own call leads to the protocol input.
    packet.becomes(&EthernetNetwork::on_input);
    engine_.post(NodeId{packet.to}, NodeId{packet.to}, now + parameters_.input, packet);
  } else {
    packet.becomes(&EthernetNetwork::on_received);
    engine_.post(NodeId{packet.to}, NodeId{packet.to}, tail + parameters_.nic_pipeline, packet);
  }
  return tail;
}

void EthernetNetwork::on_received(sim::Action& action, SimTime now) {
  auto& packet = static_cast<IpPacket&>(action);
  packet.network->received(packet, now);
}

// Handle a packet that the card has put into memory. A kernel that still works through the ring needs no interrupt.
void EthernetNetwork::received(IpPacket& packet, SimTime now) {
  Kernel& kernel = kernels_[packet.to];
  ++kernel.counters.packets;
  if (kernel.waiting >= parameters_.ring) {
    ++kernel.counters.ring_drops;
    if (sockets_[packet.target].lose(packet)) ++kernel.counters.incomplete;
    packets_.give(engine_.partition_of(NodeId{packet.to}), &packet);
    return;
  }
  ++kernel.waiting;
  if (kernel.busy_until <= now) {
    ++kernel.counters.interrupts;
    kernel.busy_until = now + parameters_.moderation + parameters_.interrupt;
  }
  kernel.busy_until += parameters_.input;
  packet.becomes(&EthernetNetwork::on_input);
  engine_.post(NodeId{packet.to}, NodeId{packet.to}, kernel.busy_until, packet);
}

void EthernetNetwork::on_input(sim::Action& action, SimTime now) {
  auto& packet = static_cast<IpPacket&>(action);
  packet.network->input(packet, now);
}

void EthernetNetwork::input(IpPacket& packet, SimTime now) {
  Kernel& kernel = kernels_[packet.to];
  if (packet.from != packet.to) --kernel.waiting;
  switch (sockets_[packet.target].take_in(packet, now)) {
    case EthernetSocket::Input::part:
      break;
    case EthernetSocket::Input::whole:
      ++kernel.counters.datagrams;
      break;
    case EthernetSocket::Input::overflow:
      ++kernel.counters.datagrams;
      ++kernel.counters.overflow_drops;
      break;
    case EthernetSocket::Input::incomplete:
      ++kernel.counters.incomplete;
      break;
  }
  packets_.give(engine_.partition_of(NodeId{packet.to}), &packet);
}

}  // namespace gasmeter::networks::ethernet
