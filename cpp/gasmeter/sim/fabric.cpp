#include "gasmeter/sim/fabric.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "gasmeter/base/error.hpp"
#include "gasmeter/sim/fabric_state.hpp"
#include "gasmeter/sim/fabric_trains.hpp"

namespace gasmeter::sim {

Fabric::Fabric(Engine& engine, Topology topology, const LinkParameters& links, FabricSink& sink)
    : engine_(engine),
      topology_(std::move(topology)),
      parameters_(links),
      sink_(sink),
      channels_(topology_.channels()),
      ring_(links.trains ? 2 * links.buffer : links.buffer) {
  const std::uint32_t vertices = topology_.vertices();
  if (engine.nodes() != vertices) {
    throw UsageError("fabric: an engine of " + std::to_string(engine.nodes()) + " nodes for the " +
                     std::to_string(vertices) + " routers of " + topology_.name());
  }
  if (links.per_byte_fs < 0 || links.latency.ps < 0) {
    throw UsageError("fabric: a negative cost of a link; 0 or more is allowed");
  }
  if (vertices > 1) engine.promise_lookahead(links.latency);
  first_output_.resize(vertices + 1);
  for (std::uint32_t vertex = 0; vertex < vertices; ++vertex) {
    first_output_[vertex + 1] = first_output_[vertex] + topology_.ports(vertex);
  }
  outputs_ = std::vector<Output>(first_output_[vertices]);
  far_end_.resize(outputs_.size());
  if (parameters_.buffer != 0) {
    inputs_.resize(outputs_.size() * channels_ * CreditReturn::words(ring_));
  }
  for (std::uint32_t vertex = 0; vertex < vertices; ++vertex) {
    for (std::uint32_t port = 0; port < topology_.ports(vertex); ++port) {
      const std::uint32_t number = first_output_[vertex] + port;
      Output& output = outputs_[number];
      const auto end = topology_.neighbour(vertex, port);
      if (!end) continue;
      output.to = end->vertex;
      far_end_[number] = first_output_[end->vertex] + end->port;
    }
  }
  trains_ = std::make_unique<Trains>(*this);
}

Fabric::~Fabric() {
  engine_.cancel();
}

void Fabric::inject(Packet& packet, SimTime now) {
  engine_.catch_up(NodeId{packet.from});
  packet.fabric = this;
  packet.tail = now;
  packet.vertex = packet.from;
  packet.link = kNoLink;
  packet.channel = 0;
  packet.becomes(&Fabric::on_arrival);
  if (packet.from == packet.to) {
    if (packet.watched) sink_.departed(packet, now);
    (void)sink_.arrived(packet, now);
    return;
  }
  packet.route = topology_.route(packet.from, packet.to);
  route(packet, now);
}

void Fabric::inject(Train& train, SimTime now, SimTime gap) {
  trains_->inject(train, now, gap);
}

void Fabric::on_arrival(Action& action, SimTime now) {
  auto& packet = static_cast<Packet&>(action);
  Fabric& self = *packet.fabric;
  if (packet.vertex == packet.to) {
    const std::uint32_t link = packet.link;
    const std::uint32_t channel = packet.channel;
    const SimTime left = self.sink_.arrived(packet, now);
    self.give_back(link, channel, left);
  } else {
    self.route(packet, now);
  }
}

GASMETER_INLINE void Fabric::route(Packet& packet, SimTime now) {
  const Hop hop = topology_.next(packet.vertex, packet.to, packet.route);
  const std::uint32_t link = first_output_[packet.vertex] + hop.port;
  if (GASMETER_UNLIKELY(now <= outputs_[link].unsettled)) trains_->settle(link, packet.vertex, now);
  if (GASMETER_LIKELY(has_room(outputs_[link], hop.channel))) {
    send(link, hop.channel, packet, now);
  } else {
    block(link, hop.channel, packet, now);
  }
}

GASMETER_INLINE bool Fabric::has_room(const Output& output, std::uint32_t channel) const {
  return parameters_.buffer == 0 || output.used[channel] < parameters_.buffer;
}

// The packet goes as soon as the link is free; a buffer at the far end is its own from now on.
GASMETER_INLINE void Fabric::send(std::uint32_t link, std::uint32_t channel, Packet& packet, SimTime now) {
  Output& output = outputs_[link];
  const SimTime start = std::max(now, output.free);
  // The last byte cannot leave before it is here.
  const SimTime end = std::max(start + on_wire(packet.bytes), packet.tail);
  output.longest_wait = std::max(output.longest_wait, start - now);
  output.free = end;
  ++output.packets;
  output.bytes += packet.bytes;
  if (packet.link != kNoLink) {
    give_back(packet.link, packet.channel, end);
  } else if (packet.watched) {
    tell_departed(packet, end);
  }
  ++output.used[channel];
  const NodeId here{packet.vertex};
  packet.link = far_end_[link];
  packet.channel = static_cast<std::uint8_t>(channel);
  packet.vertex = output.to;
  packet.tail = end + parameters_.latency;
  engine_.post(here, NodeId{output.to}, start + parameters_.latency, packet);
}

void Fabric::route_one(Packet& packet, SimTime now) {
  route(packet, now);
}

void Fabric::send_one(std::uint32_t link, std::uint32_t channel, Packet& packet, SimTime now) {
  send(link, channel, packet, now);
}

void Fabric::tell_departed(Packet& packet, SimTime end) {
  if (packet.kind == kInTrain) {
    trains_->departed(packet, end);
  } else {
    sink_.departed(packet, end);
  }
}

// Behind those that are blocked already, unless buffers have fallen free unnoticed.
void Fabric::block(std::uint32_t link, std::uint32_t channel, Packet& packet, SimTime now) {
  Shortage& shortage = shortage_of(link, packet.vertex);
  const bool first = shortage.blocked[channel].empty();
  if (first && look_for_room(link, channel, now)) {
    send(link, channel, packet, now);
    return;
  }
  ++shortage.packets;
  ++shortage.waiting;
  shortage.blocked[channel].push(&packet);
  if (first) retry(link, now);
}

Fabric::Shortage& Fabric::shortage_of(std::uint32_t link, std::uint32_t vertex) {
  Output& output = outputs_[link];
  if (!output.shortage) {
    output.shortage = std::make_unique<Shortage>();
    output.shortage->fabric = this;
    output.shortage->link = link;
    output.shortage->vertex = vertex;
  }
  return *output.shortage;
}

bool Fabric::look_for_room(std::uint32_t link, std::uint32_t channel, SimTime now) {
  Output& output = outputs_[link];
  output.used[channel] -= output.shortage->returned[channel].take(credits(far_end_[link], channel), now);
  return output.used[channel] < parameters_.buffer;
}

// `count`: of a train, whose packets may wait together.
Packet& Fabric::take_blocked(Shortage& shortage, std::uint32_t channel, std::uint32_t count) {
  Packet& packet = *shortage.blocked[channel].front();
  if (packet.kind == kInTrain && Trains::more_than(packet, count)) return trains_->part(packet, count);
  --shortage.waiting;
  return *shortage.blocked[channel].pop();
}

void Fabric::on_retry(Action& action, SimTime now) {
  auto& shortage = static_cast<Shortage&>(action);
  if (shortage.retry_at != now) return;  // brought forward
  shortage.retry_at = kNever;
  shortage.fabric->retry(shortage.link, now);
}

// Blocked packets for which buffers are free by now are sent, channels in turn. Then it looks again when the next one
// falls free, if that is in this window; else at its end: what is written there meanwhile is for later.
void Fabric::retry(std::uint32_t link, SimTime now) {
  Output& output = outputs_[link];
  Shortage& shortage = *output.shortage;
  if (now <= output.unsettled) trains_->settle(link, shortage.vertex, now);
  for (bool sent = true; sent && shortage.waiting != 0;) {
    sent = false;
    for (std::uint32_t channel = 0; channel < channels_; ++channel) {
      if (shortage.blocked[channel].empty() || !look_for_room(link, channel, now)) continue;
      send(link, channel, take_blocked(shortage, channel, 1), now);
      sent = true;
    }
  }
  output.unsettled = kSettled;
  if (shortage.waiting == 0) return;
  const NodeId here{shortage.vertex};
  SimTime at = engine_.window_end(here, now);
  for (std::uint32_t channel = 0; channel < channels_; ++channel) {
    if (!shortage.blocked[channel].empty()) at = std::min(at, shortage.returned[channel].next());
  }
  at = trains_->put_off(output, at);
  if (shortage.retry_at <= at) return;
  shortage.retry_at = at;
  engine_.post(here, here, at, shortage);
}

std::vector<LinkUse> Fabric::use() const {
  std::vector<LinkUse> all;
  for (std::uint32_t vertex = 0; vertex < topology_.vertices(); ++vertex) {
    for (std::uint32_t port = 0; port < topology_.ports(vertex); ++port) {
      const Output& output = outputs_[first_output_[vertex] + port];
      if (output.to == kNoLink) continue;
      const auto [packets, bytes] = Trains::ahead(output, engine_.now());
      all.push_back({vertex, port, output.to, output.packets - packets, output.bytes - bytes,
                     on_wire(output.bytes - bytes), output.longest_wait,
                     output.shortage ? output.shortage->packets : 0});
    }
  }
  return all;
}

void Fabric::reset_use() {
  for (Output& output : outputs_) {
    const auto [packets, bytes] = Trains::ahead(output, engine_.now());
    output.packets = packets;
    output.bytes = bytes;
    output.longest_wait = {};
    if (output.open) output.open->waited = {};
    if (output.shortage) output.shortage->packets = 0;
  }
}

}  // namespace gasmeter::sim
