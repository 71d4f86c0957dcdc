#include "gasmeter/sim/fabric/fabric_rings.hpp"

#include "gasmeter/base/error.hpp"

namespace gasmeter::sim {

void FabricSink::echoed(const Packet&, SimTime) {}

Fabric::Rings::Rings(Fabric& fabric) : fabric_(fabric), echoes_(fabric.engine_.partitions()) {
  const FabricParameters& parameters = fabric.parameters_;
  if (parameters.echo == 0) {
    throw UsageError("fabric: the links of " + fabric.topology_.name() +
                     " go one way, and this network uses links both ways; take " + fabric.topology_.name().substr(7));
  }
  if (parameters.turn.ps < 0) throw UsageError("fabric: a negative cost of a turn; 0 or more is allowed");
}

void Fabric::Rings::name_steps(Tracer& tracer, const Tracer::Explain& hop) const {
  tracer.name(&Rings::on_arrival, hop);
  tracer.name(&Rings::on_echo, hop);
  tracer.name(&Rings::on_echo_start, Step::wire);  // until the whole packet has arrived
  tracer.name(&Rings::on_turned, [](const Action& action, SimTime, SimTime at) {
    Tracer::Parts parts;
    parts.add(Step::wire, static_cast<const Packet&>(action).tail);
    parts.add(Step::device, at);
    return parts;
  });
}

void Fabric::Rings::enter(Packet& packet, SimTime now) {
  if (GASMETER_LIKELY(fabric_.express_ && packet.bytes != 0)) {
    fabric_.through_.enter_ring(fabric_, packet, now);
    return;
  }
  // An express packet knows only its way through one ring.
  packet.route = fabric_.topology_.route(packet.vertex, packet.to);
  fabric_.route_one(packet, now);
}

// Handle an arrival. A dimension is a ring and a class of links.
void Fabric::Rings::on_arrival(Action& action, SimTime now) {
  auto& packet = static_cast<Packet&>(action);
  Fabric& fabric = *packet.fabric;
  const std::uint32_t port = packet.link - fabric.first_output_[packet.vertex];
  const std::uint32_t dimension = fabric.topology_.port_class(packet.vertex, port);
  if (!packet.route.is_through(dimension)) {
    fabric.route_one(packet, now);
    return;
  }
  fabric.rings_->echo(packet, dimension);
  if (packet.vertex == packet.to) {
    Fabric::on_arrival(packet, now);
    return;
  }
  const NodeId node{packet.vertex};
  packet.becomes(&Rings::on_turned);
  fabric.engine_.post(node, node, packet.tail + fabric.parameters_.turn, packet);
}

void Fabric::Rings::on_turned(Action& action, SimTime now) {
  auto& packet = static_cast<Packet&>(action);
  packet.becomes(&Rings::on_arrival);
  packet.fabric->rings_->enter(packet, now);
}

void Fabric::Rings::echo(const Packet& packet, std::uint32_t dimension) {
  const NodeId node{packet.vertex};
  Echo& echo = *echoes_.take(fabric_.engine_.partition_of(node));
  echo.becomes(&Rings::on_echo_start);
  echo.fabric = &fabric_;
  echo.from = packet.vertex;
  echo.to = fabric_.topology_.ring_entry(packet.from, packet.vertex, dimension);
  echo.vertex = packet.vertex;
  echo.link = kNoLink;
  echo.channel = 0;
  echo.bytes = fabric_.parameters_.echo;
  echo.kind = packet.kind;
  echo.watched = 0;
  fabric_.engine_.post(node, node, packet.tail, echo);
}

void Fabric::Rings::on_echo_start(Action& action, SimTime now) {
  auto& echo = static_cast<Echo&>(action);
  echo.tail = now;
  echo.becomes(&Rings::on_echo);
  echo.fabric->rings_->enter(echo, now);
}

void Fabric::Rings::on_echo(Action& action, SimTime now) {
  auto& echo = static_cast<Echo&>(action);
  Fabric& fabric = *echo.fabric;
  if (echo.vertex != echo.to) {
    fabric.route_one(echo, now);
    return;
  }
  fabric.sink_.echoed(echo, now);
  fabric.give_back(echo.link, echo.channel, echo.tail);
  fabric.rings_->echoes_.give(fabric.engine_.partition_of(NodeId{echo.vertex}), &echo);
}

}  // namespace gasmeter::sim
