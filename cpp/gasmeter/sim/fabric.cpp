#include "gasmeter/sim/fabric.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "gasmeter/base/error.hpp"

namespace gasmeter::sim {

// Packets that wait for one channel of a link.
struct Fabric::Lane {
  PacketQueue waiting;
  std::uint32_t used = 0;  // buffers at the far end
  CreditReturn returned;
};

// One direction of a link, at the vertex where it begins.
struct Fabric::Output : Action {
  Output() : Action(&Fabric::on_service) {}

  Fabric* fabric = nullptr;
  SimTime free;              // when the last byte has left
  SimTime service = kNever;  // when it looks again
  std::uint32_t vertex = 0;
  std::uint32_t to = kNoLink;  // vertex; kNoLink: no link at this port
  std::uint32_t waiting = 0;   // packets, all lanes
  std::uint32_t turn = 0;      // lane that is asked first
  std::uint32_t deepest = 0;
  std::uint64_t blocked = 0;
  std::uint64_t packets = 0;
  std::uint64_t bytes = 0;
};

Fabric::Fabric(Engine& engine, Topology topology, const LinkParameters& links, FabricSink& sink)
    : engine_(engine),
      topology_(std::move(topology)),
      parameters_(links),
      sink_(sink),
      channels_(topology_.channels()) {
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
  lanes_ = std::vector<Lane>(outputs_.size() * channels_);
  for (std::uint32_t vertex = 0; vertex < vertices; ++vertex) {
    for (std::uint32_t port = 0; port < topology_.ports(vertex); ++port) {
      const std::uint32_t number = first_output_[vertex] + port;
      Output& output = outputs_[number];
      output.fabric = this;
      output.vertex = vertex;
      const auto end = topology_.neighbour(vertex, port);
      if (!end) continue;
      output.to = end->vertex;
      if (parameters_.buffer == 0) continue;
      for (std::uint32_t channel = 0; channel < channels_; ++channel) {
        lanes_[number * channels_ + channel].returned.room_for(parameters_.buffer);
      }
    }
  }
}

Fabric::~Fabric() {
  engine_.cancel();
}

void Fabric::inject(Packet& packet, SimTime now) {
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

void Fabric::route(Packet& packet, SimTime now) {
  const Hop hop = topology_.next(packet.vertex, packet.to, packet.route);
  const std::uint32_t number = first_output_[packet.vertex] + hop.port;
  Output& output = outputs_[number];
  Lane& lane = lanes_[number * channels_ + hop.channel];
  if (output.waiting == 0 && output.free <= now && has_room(lane, now)) {
    send(output, lane, packet, now);
    return;
  }
  lane.waiting.push(&packet);
  output.deepest = std::max(output.deepest, ++output.waiting);
  serve(output, now);
}

void Fabric::on_service(Action& action, SimTime now) {
  auto& output = static_cast<Output&>(action);
  if (output.service != now) return;  // brought forward
  output.service = kNever;
  if (output.waiting != 0) output.fabric->serve(output, now);
}

void Fabric::serve(Output& output, SimTime now) {
  if (output.free > now) {
    serve_later(output, output.free);
    return;
  }
  Lane* const lane = next_lane(output, now);
  if (lane == nullptr) {
    ++output.blocked;
    serve_later(output, retry_at(output, now));
    return;
  }
  --output.waiting;
  send(output, *lane, *lane->waiting.pop(), now);
  if (output.waiting != 0) serve_later(output, output.free);
}

// Channels take turns, those without a free buffer are left out.
Fabric::Lane* Fabric::next_lane(Output& output, SimTime now) {
  Lane* const lanes = &lanes_[static_cast<std::size_t>(&output - outputs_.data()) * channels_];
  for (std::uint32_t i = 0; i < channels_; ++i) {
    const std::uint32_t channel = (output.turn + i) % channels_;
    Lane& lane = lanes[channel];
    if (lane.waiting.empty() || !has_room(lane, now)) continue;
    output.turn = (channel + 1) % channels_;
    return &lane;
  }
  return nullptr;
}

bool Fabric::has_room(Lane& lane, SimTime now) const {
  if (parameters_.buffer == 0 || lane.used < parameters_.buffer) return true;
  lane.used -= lane.returned.take(now);
  return lane.used < parameters_.buffer;
}

// When a buffer falls free, if that is known for this window; else the next window knows more.
SimTime Fabric::retry_at(const Output& output, SimTime now) const {
  const Lane* const lanes = &lanes_[static_cast<std::size_t>(&output - outputs_.data()) * channels_];
  SimTime at = engine_.window_end(NodeId{output.vertex}, now);
  for (std::uint32_t channel = 0; channel < channels_; ++channel) {
    if (!lanes[channel].waiting.empty()) at = std::min(at, lanes[channel].returned.next());
  }
  return at;
}

void Fabric::send(Output& output, Lane& lane, Packet& packet, SimTime now) {
  const SimTime wire = on_wire(packet.bytes);
  // The last byte cannot leave before it is here.
  const SimTime end = std::max(now + wire, packet.tail);
  const auto number = static_cast<std::uint32_t>(&output - outputs_.data());
  output.free = end;
  ++output.packets;
  output.bytes += packet.bytes;
  if (packet.link != kNoLink) {
    give_back(packet.link, packet.channel, end);
  } else if (packet.watched) {
    sink_.departed(packet, end);
  }
  if (parameters_.buffer != 0) ++lane.used;
  packet.link = number;
  packet.channel = static_cast<std::uint8_t>(&lane - &lanes_[number * channels_]);
  packet.vertex = output.to;
  packet.tail = end + parameters_.latency;
  engine_.post(NodeId{output.vertex}, NodeId{output.to}, now + parameters_.latency, packet);
}

void Fabric::serve_later(Output& output, SimTime at) {
  if (output.service <= at) return;
  output.service = at;
  engine_.post(NodeId{output.vertex}, NodeId{output.vertex}, at, output);
}

void Fabric::give_back(std::uint32_t link, std::uint32_t channel, SimTime left) {
  if (parameters_.buffer != 0) lanes_[link * channels_ + channel].returned.give(left + parameters_.latency);
}

std::vector<LinkUse> Fabric::use() const {
  std::vector<LinkUse> all;
  for (const Output& output : outputs_) {
    if (output.to == kNoLink) continue;
    const auto number = static_cast<std::uint32_t>(&output - outputs_.data());
    all.push_back({output.vertex, number - first_output_[output.vertex], output.to, output.packets, output.bytes,
                   on_wire(output.bytes), output.deepest, output.blocked});
  }
  return all;
}

void Fabric::reset_use() {
  for (Output& output : outputs_) {
    output.packets = output.bytes = output.blocked = 0;
    output.deepest = output.waiting;
  }
}

}  // namespace gasmeter::sim
