#include "gasmeter/sim/fabric.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "gasmeter/base/error.hpp"

namespace gasmeter::sim {

namespace {
constexpr std::uint32_t kMostChannels = 2;  // of any topology
}

// What a link's near end keeps only while buffers at the far end are short.
struct Fabric::Shortage : Action {
  Shortage() : Action(&Fabric::on_retry) {}

  Fabric* fabric = nullptr;
  std::uint32_t link = 0;
  std::uint32_t vertex = 0;
  std::uint32_t waiting = 0;  // packets, all channels
  SimTime retry_at = kNever;  // when it looks for free buffers again
  std::uint64_t packets = 0;  // that had to wait, ever
  std::array<PacketQueue, kMostChannels> blocked;
  std::array<CreditsComing, kMostChannels> returned;
};

// One direction of a link, at the vertex where it begins: a cache line.
struct alignas(kCacheLine) Fabric::Output {
  SimTime free;                                     // when the last byte of what has been sent has left
  std::array<std::uint32_t, kMostChannels> used{};  // buffers at the far end
  std::uint32_t to = kNoLink;                       // vertex; kNoLink: no link at this port
  std::uint32_t packets = 0;
  std::uint64_t bytes = 0;
  SimTime longest_wait;
  std::unique_ptr<Shortage> shortage;
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
  far_end_.resize(outputs_.size());
  if (parameters_.buffer != 0) {
    inputs_.resize(outputs_.size() * channels_ * CreditReturn::words(parameters_.buffer));
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
    sink_.departed(packet, end);
  }
  ++output.used[channel];
  const NodeId here{packet.vertex};
  packet.link = far_end_[link];
  packet.channel = static_cast<std::uint8_t>(channel);
  packet.vertex = output.to;
  packet.tail = end + parameters_.latency;
  engine_.post(here, NodeId{output.to}, start + parameters_.latency, packet);
}

// Behind those that are blocked already, unless buffers have fallen free unnoticed.
void Fabric::block(std::uint32_t link, std::uint32_t channel, Packet& packet, SimTime now) {
  Output& output = outputs_[link];
  if (!output.shortage) {
    output.shortage = std::make_unique<Shortage>();
    output.shortage->fabric = this;
    output.shortage->link = link;
    output.shortage->vertex = packet.vertex;
  }
  Shortage& shortage = *output.shortage;
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

bool Fabric::look_for_room(std::uint32_t link, std::uint32_t channel, SimTime now) {
  Output& output = outputs_[link];
  output.used[channel] -= output.shortage->returned[channel].take(credits(far_end_[link], channel), now);
  return output.used[channel] < parameters_.buffer;
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
  Shortage& shortage = *outputs_[link].shortage;
  for (bool sent = true; sent && shortage.waiting != 0;) {
    sent = false;
    for (std::uint32_t channel = 0; channel < channels_; ++channel) {
      if (shortage.blocked[channel].empty() || !look_for_room(link, channel, now)) continue;
      --shortage.waiting;
      send(link, channel, *shortage.blocked[channel].pop(), now);
      sent = true;
    }
  }
  if (shortage.waiting == 0) return;
  const NodeId here{shortage.vertex};
  SimTime at = engine_.window_end(here, now);
  for (std::uint32_t channel = 0; channel < channels_; ++channel) {
    if (!shortage.blocked[channel].empty()) at = std::min(at, shortage.returned[channel].next());
  }
  if (shortage.retry_at <= at) return;
  shortage.retry_at = at;
  engine_.post(here, here, at, shortage);
}

GASMETER_INLINE void Fabric::give_back(std::uint32_t input, std::uint32_t channel, SimTime left) {
  if (parameters_.buffer != 0) credits(input, channel).give(left + parameters_.latency);
}

std::vector<LinkUse> Fabric::use() const {
  std::vector<LinkUse> all;
  for (std::uint32_t vertex = 0; vertex < topology_.vertices(); ++vertex) {
    for (std::uint32_t port = 0; port < topology_.ports(vertex); ++port) {
      const Output& output = outputs_[first_output_[vertex] + port];
      if (output.to == kNoLink) continue;
      all.push_back({vertex, port, output.to, output.packets, output.bytes, on_wire(output.bytes), output.longest_wait,
                     output.shortage ? output.shortage->packets : 0});
    }
  }
  return all;
}

void Fabric::reset_use() {
  for (Output& output : outputs_) {
    output.packets = 0;
    output.bytes = 0;
    output.longest_wait = {};
    if (output.shortage) output.shortage->packets = 0;
  }
}

}  // namespace gasmeter::sim
