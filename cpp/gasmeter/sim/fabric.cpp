#include "gasmeter/sim/fabric.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "gasmeter/base/error.hpp"

namespace gasmeter::sim {

namespace {
constexpr std::uint32_t kNoLimit = 1;  // of buffers: as if one were always free
}  // namespace

// One direction of a link, at the vertex where it begins: a cache line.
struct alignas(kCacheLine) Fabric::Output {
  SimTime free;                                     // when the last byte of what has been sent has left
  std::array<std::uint32_t, kMostChannels> room{};  // buffers at the far end, as far as is known here
  std::uint32_t to = kNoLink;                       // vertex; kNoLink: no link at this port
  std::uint32_t far_end = 0;                        // that of the link back, in outputs_
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
      channels_(topology_.channels()),
      places_(links.buffer != 0 ? CreditReturn::places(links.buffer * channels_) : 0),
      told_(engine.partitions()) {
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
  if (has_limit()) {
    given_.resize(outputs_.size());
    credits_.resize(outputs_.size() * places_);
  }
  for (std::uint32_t vertex = 0; vertex < vertices; ++vertex) {
    for (std::uint32_t port = 0; port < topology_.ports(vertex); ++port) {
      const std::uint32_t number = first_output_[vertex] + port;
      Output& output = outputs_[number];
      const auto end = topology_.neighbour(vertex, port);
      if (!end) continue;
      output.to = end->vertex;
      output.far_end = first_output_[end->vertex] + end->port;
      output.room.fill(parameters_.buffer != 0 ? parameters_.buffer : kNoLimit);
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
  if (GASMETER_LIKELY(outputs_[link].room[hop.channel] != 0)) {
    send(outputs_[link], hop.channel, packet, now);
  } else {
    block(link, hop.channel, packet, now);
  }
}

// The packet goes as soon as the link is free; a buffer at the far end is its own from now on.
GASMETER_INLINE void Fabric::send(Output& output, std::uint32_t channel, Packet& packet, SimTime now) {
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
  if (has_limit()) --output.room[channel];
  const NodeId here{packet.vertex};
  packet.link = output.far_end;
  packet.channel = static_cast<std::uint8_t>(channel);
  packet.vertex = output.to;
  packet.tail = end + parameters_.latency;
  engine_.post(here, NodeId{output.to}, start + parameters_.latency, packet);
}

Shortage& Fabric::shortage_of(std::uint32_t link, std::uint32_t vertex) {
  std::unique_ptr<Shortage>& shortage = outputs_[link].shortage;
  if (shortage) return *shortage;
  shortage = std::make_unique<Shortage>(&Fabric::on_retry);
  shortage->fabric = this;
  shortage->link = link;
  shortage->vertex = vertex;
  shortage->wish.becomes(&Fabric::on_wish);
  shortage->wish.of = shortage.get();
  return *shortage;
}

// Behind those that are blocked already, unless buffers have fallen free unnoticed.
void Fabric::block(std::uint32_t link, std::uint32_t channel, Packet& packet, SimTime now) {
  Output& output = outputs_[link];
  Shortage& shortage = shortage_of(link, packet.vertex);
  const bool first = shortage.blocked[channel].empty();
  if (first) look_for_room(output, now);
  if (first && output.room[channel] != 0) {
    send(output, channel, packet, now);
    return;
  }
  ++shortage.packets;
  ++shortage.waiting;
  shortage.blocked[channel].push(&packet);
  if (first) look_again(shortage, now);
}

void Fabric::look_for_room(Output& output, SimTime now) {
  output.shortage->returned.take(credits(output.far_end), now, output.room);
}

void Fabric::on_retry(Action& action, SimTime now) {
  auto& shortage = static_cast<Shortage&>(action);
  if (shortage.retry_at != now) return;  // brought forward
  shortage.retry_at = kNever;
  Fabric& self = *shortage.fabric;
  if (!self.retry(shortage, now)) self.ask(shortage, true, now);
  if (shortage.waiting != 0) self.look_again(shortage, now);
}

// Blocked packets for which buffers are free by now are sent, channels in turn. Whether there was one.
bool Fabric::retry(Shortage& shortage, SimTime now) {
  Output& output = outputs_[shortage.link];
  look_for_room(output, now);
  const std::uint32_t waited = shortage.waiting;
  for (std::uint32_t left = waited + 1; left != shortage.waiting;) {
    left = shortage.waiting;
    for (std::uint32_t channel = 0; channel < channels_; ++channel) {
      PacketQueue& blocked = shortage.blocked[channel];
      if (blocked.empty() || output.room[channel] == 0) continue;
      --shortage.waiting;
      send(output, channel, *blocked.pop(), now);
    }
  }
  return shortage.waiting != waited;
}

// When the next buffer falls free, if that is known, or at the end of the window: what is written there meanwhile is
// for later.
void Fabric::look_again(Shortage& shortage, SimTime now) {
  const NodeId here{shortage.vertex};
  SimTime at = shortage.is_told(now) ? kNever : engine_.window_end(here, now);
  for (std::uint32_t channel = 0; channel < channels_; ++channel) {
    if (!shortage.blocked[channel].empty()) at = std::min(at, shortage.returned.next(channel));
  }
  if (shortage.retry_at <= at) return;
  shortage.retry_at = at;
  engine_.post(here, here, at, shortage);
}

void Fabric::ask(Shortage& shortage, bool tell, SimTime now) {
  Shortage::Wish& wish = shortage.wish;
  if (wish.tell == tell || now < wish.heeded) return;
  const NodeId here{shortage.vertex};
  const SimTime there = now + parameters_.latency;
  wish.tell = tell;
  wish.heeded = engine_.window_end(here, there);
  engine_.post(here, NodeId{outputs_[shortage.link].to}, there, wish);
}

void Fabric::on_wish(Action& action, SimTime) {
  const auto& wish = static_cast<Shortage::Wish&>(action);
  Fabric& self = *wish.of->fabric;
  self.credits(self.outputs_[wish.of->link].far_end).tell(wish.tell);
}

GASMETER_NOINLINE void Fabric::tell(std::uint32_t input, SimTime at) {
  const Output& back = outputs_[input];
  const NodeId here{outputs_[back.far_end].to};
  ToldCredit* const credit = told_.take(engine_.partition_of(here));
  credit->becomes(&Fabric::on_told);
  credit->fabric = this;
  credit->link = back.far_end;
  engine_.post(here, NodeId{back.to}, at, *credit);
}

void Fabric::on_told(Action& action, SimTime now) {
  auto& credit = static_cast<ToldCredit&>(action);
  Fabric& self = *credit.fabric;
  Shortage& shortage = *self.outputs_[credit.link].shortage;
  self.told_.give(self.engine_.partition_of(NodeId{shortage.vertex}), &credit);
  if (shortage.waiting == 0) {
    self.ask(shortage, false, now);
    return;
  }
  (void)self.retry(shortage, now);
  if (shortage.waiting != 0) self.look_again(shortage, now);
}

GASMETER_INLINE void Fabric::give_back(std::uint32_t input, std::uint32_t channel, SimTime left) {
  if (!has_limit()) return;
  const SimTime at = left + parameters_.latency;
  if (GASMETER_UNLIKELY(credits(input).give(at, channel))) tell(input, at);
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
