#include "gasmeter/sim/fabric/fabric_choices.hpp"

#include <algorithm>

namespace gasmeter::sim {

Fabric::Choices::Choices(Fabric& fabric)
    : fabric_(fabric), chosen_(fabric.topology_.vertices() - fabric.topology_.terminals()) {}

void Fabric::Choices::name_steps(Tracer& tracer, const Tracer::Explain& hop) {
  tracer.name(&Choices::on_arrival, hop);
}

// Let a packet with an open way, which leads as far as the first router, choose there.
void Fabric::Choices::on_arrival(Action& action, SimTime now) {
  auto& packet = static_cast<Packet&>(action);
  if (CrayXc::is_open(packet.route)) packet.route = packet.fabric->choices_->choose(packet, now);
  Fabric::on_arrival(packet, now);
}

Route Fabric::Choices::choose(const Packet& packet, SimTime now) {
  const CrayXc& shape = *fabric_.topology_.chooser();
  const std::uint32_t vertex = packet.vertex;
  const CrayXc::Choices all = shape.choices(vertex, packet.to, chosen_[vertex - fabric_.topology_.terminals()]++);
  std::size_t best = 0;
  SimTime least;
  for (std::size_t i = 0; i < all.count; ++i) {
    Route way = all.ways[i];
    const std::uint32_t link = fabric_.first_output_[vertex] + shape.next(vertex, packet.to, way).port;
    const SimTime cost = load(link, packet.bytes, now) * shape.links_left(vertex, packet.to, all.ways[i]);
    if (i != 0 && cost >= least) continue;
    best = i;
    least = cost;
  }
  return all.ways[best];
}

// Return how long the link is busy with what waits for it. Packets that wait for buffers count as this one.
SimTime Fabric::Choices::load(std::uint32_t link, Bytes bytes, SimTime now) const {
  const Output& output = fabric_.outputs_[link];
  const SimTime sent = std::max(output.free - now, SimTime{});
  const std::int64_t waiting = output.shortage ? output.shortage->waiting : 0;
  return sent + fabric_.cost_of(output).on_wire(bytes) * waiting;
}

}  // namespace gasmeter::sim
