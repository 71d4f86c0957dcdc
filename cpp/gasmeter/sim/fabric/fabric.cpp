#include "gasmeter/sim/fabric/fabric.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "gasmeter/base/error.hpp"
#include "gasmeter/sim/fabric/fabric_choices.hpp"
#include "gasmeter/sim/fabric/fabric_rings.hpp"
#include "gasmeter/sim/fabric/fabric_state.hpp"
#include "gasmeter/sim/trace/tracer.hpp"

namespace gasmeter::sim {

namespace {
constexpr std::uint32_t kNoLimit = 1;  // number of buffers: as if one were always free
// Places of a ring of credits at first: two cache lines. With 8 places more rings grow, which takes as many bytes; 4
// places take more.
constexpr std::uint32_t kFirstPlaces = 16;
}  // namespace

Fabric::Fabric(Engine& engine, Topology topology, const LinkParameters& links, FabricSink& sink)
    : Fabric(engine, std::move(topology), FabricParameters(links), sink) {}

Fabric::Fabric(Engine& engine, Topology topology, const FabricParameters& parameters, FabricSink& sink)
    : engine_(engine),
      topology_(std::move(topology)),
      parameters_(parameters),
      sink_(sink),
      channels_(topology_.channels()),
      arrival_(&Fabric::on_arrival) {
  const std::uint32_t vertices = topology_.vertices();
  if (engine.nodes() != vertices) {
    throw UsageError("fabric: an engine of " + std::to_string(engine.nodes()) + " nodes for the " +
                     std::to_string(vertices) + " routers of " + topology_.name());
  }
  set_classes();
  set_links();
  set_slow_links();
  if (topology_.one_way()) {
    rings_ = std::make_unique<Rings>(*this);
    arrival_ = &Rings::on_arrival;
  }
  if (topology_.chooser() != nullptr) {
    choices_ = std::make_unique<Choices>(*this);
    arrival_ = &Choices::on_arrival;
  }
  through_ = through();
  express_ = through_.carry != nullptr;
  engine_.set_wiring(through_.carry, *this);
}

// Look up what each class of links costs, once.
void Fabric::set_classes() {
  const std::vector<std::string> names = topology_.link_classes();
  for (const auto& [name, links] : parameters_.classes) {
    if (std::find(names.begin(), names.end(), name) != names.end()) continue;
    std::string listed;
    for (const std::string& each : names) listed += (listed.empty() ? "" : ", ") + each;
    throw UsageError("fabric: " + topology_.name() + " has no links of class `" + name + "`; its classes are " +
                     listed);
  }
  std::uint32_t most = 0;
  for (std::size_t number = 0; number < names.size(); ++number) {
    const auto match = parameters_.classes.find(names[number]);
    const LinkParameters& links = match == parameters_.classes.end() ? parameters_.links : match->second;
    if (links.per_byte_fs < 0 || links.latency.ps < 0) {
      throw UsageError("fabric: a negative cost of a link; 0 or more is allowed");
    }
    if (topology_.vertices() > 1) engine_.promise_lookahead(links.latency);
    costs_[number] = {links.per_byte_fs, links.latency};
    buffers_.push_back(links.buffer);
    most = std::max(most, links.buffer);
    if ((links.buffer == 0) != (buffers_.front() == 0)) {
      throw UsageError("fabric: buffers of class `" + names[number] + "` are " +
                       (links.buffer == 0 ? "without limit" : "limited") + " and those of `" + names.front() +
                       "` are not; give all classes a limit, or none");
    }
  }
  places_ = most != 0 ? CreditReturn::places(most * channels_) : 0;
  taken_ = has_limit() ? 1 : 0;
}

bool Fabric::all_cost_the_same() const {
  return std::all_of(costs_.begin(), costs_.begin() + static_cast<std::ptrdiff_t>(buffers_.size()),
                     [this](const LinkCost& cost) { return cost == costs_[0]; });
}

void Fabric::set_links() {
  const std::uint32_t vertices = topology_.vertices();
  first_output_.resize(vertices + 1);
  for (std::uint32_t vertex = 0; vertex < vertices; ++vertex) {
    first_output_[vertex + 1] = first_output_[vertex] + topology_.ports(vertex);
  }
  outputs_ = std::vector<Output>(first_output_[vertices]);
  inputs_.resize(outputs_.size());
  const std::uint32_t places = std::min(places_, kFirstPlaces);
  credits_.resize(outputs_.size() * places);
  for (std::uint32_t vertex = 0; vertex < vertices; ++vertex) {
    for (std::uint32_t port = 0; port < topology_.ports(vertex); ++port) {
      const std::uint32_t number = first_output_[vertex] + port;
      Output& output = outputs_[number];
      const auto end = topology_.neighbour(vertex, port);
      if (!end) continue;
      output.to = end->vertex;
      output.far_port = static_cast<std::uint16_t>(end->port);
      output.link_class = static_cast<std::uint8_t>(topology_.port_class(vertex, port));
      output.room.fill(has_limit() ? buffers_[output.link_class] : kNoLimit);
      Output& back = outputs_[far_end(output)];
      back.to = vertex;
      back.far_port = static_cast<std::uint16_t>(port);
      Input& input = inputs_[far_end(output)];
      input.link_class = output.link_class;
      input.ring = has_limit() ? &credits_[static_cast<std::size_t>(far_end(output)) * places] : nullptr;
      input.places = places;
      input.is_apart = engine_.partition_of(NodeId{vertex}) != engine_.partition_of(NodeId{end->vertex});
    }
  }
}

// Add slow links as further classes, one for each cost: a hop does what it did before.
void Fabric::set_slow_links() {
  for (const auto& [begin, end, slowness] : topology_.slow_links()) {
    Output& output = outputs_[first_output_[begin.vertex] + begin.port];
    const LinkCost cost{slowness.of(costs_[output.link_class].per_byte_fs), costs_[output.link_class].latency};
    const auto known_end = costs_.begin() + static_cast<std::ptrdiff_t>(buffers_.size());
    const auto match = std::find(costs_.begin(), known_end, cost);
    if (match == costs_.end()) {
      throw UsageError("fabric: " + topology_.name() + " has links of more than " + std::to_string(costs_.size()) +
                       " different costs; give slow ones fewer different factors");
    }
    output.link_class = static_cast<std::uint8_t>(match - costs_.begin());
    inputs_[far_end(output)].link_class = output.link_class;
    if (match != known_end) continue;
    *match = cost;
    buffers_.push_back(buffers_[topology_.port_class(begin.vertex, begin.port)]);
  }
}

// Make room for one more credit. Read, on behalf of the near end, the credits that have come back by now; the near end
// need not know when. While packets wait there the near end reads by itself.
GASMETER_NOINLINE void Fabric::make_places(std::uint32_t input) {
  Input& self = inputs_[input];
  if (self.places == places_) {
    self.full = self.given - 1;  // no growth before the count has gone round
    return;
  }
  Output& output = outputs_[far_end(outputs_[input])];
  if (self.given - output.read == self.places && !output.is_short) {
    credits(output).take(engine_.partition(NodeId{outputs_[input].to}).window_begin(), output.room);
  }
  if (self.given - output.read == self.places) {
    auto more = std::make_unique<CreditReturn::Word[]>(2 * std::size_t{self.places});
    credits(output).copy_to(more.get(), 2 * self.places);
    forget_ring(input);
    self.ring = more.release();
    self.places *= 2;
  }
  self.full = output.read + self.places;
}

// Delete a ring that replaced the first ring of its link.
void Fabric::forget_ring(std::uint32_t input) {
  const CreditReturn::Word* const ring = inputs_[input].ring;
  if (std::less<>()(ring, credits_.data()) || !std::less<>()(ring, credits_.data() + credits_.size())) delete[] ring;
}

GASMETER_NOINLINE void Fabric::give(std::uint32_t input, std::uint32_t channel, SimTime at) {
  Input& self = inputs_[input];
  if (self.given == self.full) make_places(input);
  CreditReturn::give(self.given, self.last, self.ring, self.places, at, channel);
  if (self.is_awaited) credit_awaited(input, channel, at);
}

void Fabric::give_apart(std::uint32_t input, std::uint32_t channel, SimTime at) {
  const Output& back = outputs_[input];
  engine_.partition(NodeId{outputs_[far_end(back)].to}).send_credit(NodeId{back.to}, input, channel, at);
}

Fabric::~Fabric() {
  engine_.cancel();
  engine_.forget_wiring();
  for (std::uint32_t input = 0; input != inputs_.size(); ++input) forget_ring(input);
}

void Fabric::inject(Packet& packet, SimTime now, std::uint32_t flow) {
  engine_.catch_up(NodeId{packet.from});
  packet.fabric = this;
  if (GASMETER_LIKELY(express_ && packet.from != packet.to && packet.bytes != 0 && !rings_)) {
    packet.becomes(arrival_);
    through_.inject(*this, packet, now);
  } else {
    inject_step_by_step(packet, now, flow);
  }
}

GASMETER_NOINLINE void Fabric::inject_step_by_step(Packet& packet, SimTime now, std::uint32_t flow) {
  packet.tail = now;
  packet.vertex = packet.from;
  packet.link = kNoLink;
  packet.channel = 0;
  packet.becomes(arrival_);
  if (packet.from == packet.to) {
    if (packet.watched) sink_.departed(packet, now);
    (void)sink_.arrived(packet, now);
    return;
  }
  if (rings_) {
    rings_->enter(packet, now);
    return;
  }
  packet.route = topology_.route(packet.from, packet.to, flow);
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
  if (GASMETER_LIKELY(outputs_[link].room[hop.channel] != 0 || find_room(outputs_[link], hop.channel, now))) {
    send(outputs_[link], hop.channel, packet, now);
  } else {
    block(link, hop.channel, packet, now);
  }
}

GASMETER_INLINE void Fabric::send(Output& output, std::uint32_t channel, Packet& packet, SimTime now) {
  const LinkCost& cost = cost_of(output);
  const Crossing crossing = cross(output, cost, channel, packet.bytes, now, &packet.tail);
  if (packet.link != kNoLink) {
    give_back(packet.link, packet.channel, crossing.end);
  } else if (packet.watched) {
    sink_.departed(packet, crossing.end);
  }
  const SimTime at = crossing.start + cost.latency;
  const NodeId node{packet.vertex};
  if (GASMETER_LIKELY(express_ && packet.bytes != 0)) {
    through_.go_on(*this, output, channel, packet, at);
    return;
  }
  if (GASMETER_UNLIKELY(packet.route.is_code())) packet.route = through_.unpack(packet.route.code());
  packet.link = far_end(output);
  packet.channel = static_cast<std::uint8_t>(channel);
  packet.vertex = output.to;
  packet.tail = crossing.end + cost.latency;
  engine_.post(node, NodeId{output.to}, at, packet);
}

void Fabric::route_one(Packet& packet, SimTime now) {
  route(packet, now);
}

Shortage& Fabric::shortage_of(std::uint32_t link, std::uint32_t vertex) {
  std::unique_ptr<Shortage>& shortage = outputs_[link].shortage;
  if (shortage) return *shortage;
  shortage = std::make_unique<Shortage>(&Fabric::on_retry);
  shortage->fabric = this;
  shortage->link = link;
  shortage->vertex = vertex;
  return *shortage;
}

// For a packet that comes where nobody waits: tell whether a buffer has fallen free that nobody had to know of.
bool Fabric::find_room(Output& output, std::uint32_t channel, SimTime now) {
  if (output.is_short) return false;
  credits(output).take(now, output.room);
  return output.room[channel] != 0;
}

// Reserve found buffers for the packets that wait in their channel, at the retry of this very instant: nobody overtakes
// them.
void Fabric::look_for_room(Output& output, SimTime now) {
  if (!output.is_short) return credits(output).take(now, output.room);
  Shortage& shortage = *output.shortage;
  credits(output).take(now, shortage.found);
  for (std::uint32_t channel = 0; channel < channels_; ++channel) {
    if (shortage.blocked[channel].empty()) output.room[channel] += std::exchange(shortage.found[channel], 0);
  }
}

// Queue a packet that found no buffer, behind the blocked packets of its channel. Where only packets of the other
// channel are blocked, buffers may have fallen free unnoticed.
void Fabric::block(std::uint32_t link, std::uint32_t channel, Packet& packet, SimTime now) {
  Output& output = outputs_[link];
  Shortage& shortage = shortage_of(link, packet.vertex);
  const bool first = shortage.blocked[channel].empty();
  if (first && output.is_short) {
    look_for_room(output, now);
    if (output.room[channel] != 0) return send(output, channel, packet, now);
  }
  ++shortage.packets;
  ++shortage.waiting;
  shortage.blocked[channel].push(&packet);
  if (first) look_again(shortage, now);
}

void Fabric::on_retry(Action& action, SimTime now) {
  auto& shortage = static_cast<Shortage&>(action);
  Fabric& self = *shortage.fabric;
  if (shortage.retry_at != now) {  // the retry was brought forward
    self.engine_.partition(NodeId{shortage.vertex}).uncount();
    return;
  }
  shortage.retry_at = kNever;
  self.retry(shortage, now);
  if (shortage.waiting != 0) {
    self.look_again(shortage, now);
  } else {
    self.set_short(self.outputs_[shortage.link], false);
  }
}

// Send blocked packets for which buffers are free by now, channels in turn.
void Fabric::retry(Shortage& shortage, SimTime now) {
  Output& output = outputs_[shortage.link];
  look_for_room(output, now);
  for (std::uint32_t channel = 0; channel < channels_; ++channel) {
    output.room[channel] += std::exchange(shortage.found[channel], 0);
  }
  for (bool more = true; more;) {
    more = false;
    for (std::uint32_t channel = 0; channel < channels_; ++channel) {
      if (shortage.blocked[channel].empty() || output.room[channel] == 0) continue;
      --shortage.waiting;
      send(output, channel, *shortage.blocked[channel].pop(), now);
      more = true;
    }
  }
}

// Set the retry to when the next buffer falls free, as far as that is known; from now on the link is told of further
// ones.
void Fabric::look_again(Shortage& shortage, SimTime now) {
  SimTime at = kNever;
  for (std::uint32_t channel = 0; channel < channels_; ++channel) {
    if (shortage.blocked[channel].empty()) continue;
    at = std::min(at, credits(outputs_[shortage.link]).next(channel));
    // A packet of the other channel, which came at the same instant, has found this buffer.
    if (shortage.found[channel] != 0) at = now;
  }
  set_short(outputs_[shortage.link], true);
  retry_at(shortage, at);
}

void Fabric::set_short(Output& output, bool is_short) {
  output.is_short = is_short;
  inputs_[far_end(output)].is_awaited = is_short;
}

// Post the retry. Retries of one instant are ordered by port, since links that end at the same vertex see who is served
// first.
void Fabric::retry_at(Shortage& shortage, SimTime at) {
  if (shortage.retry_at <= at) return;
  shortage.retry_at = at;
  const NodeId node{shortage.vertex};
  const std::uint32_t port = shortage.link - first_output_[shortage.vertex];
  engine_.post(node, node, at, shortage, credit_tie(node) + kFirstOfLinks + port);
}

GASMETER_NOINLINE void Fabric::credit_awaited(std::uint32_t input, std::uint32_t channel, SimTime at) {
  const Output& output = outputs_[far_end(outputs_[input])];
  if (output.shortage->blocked[channel].empty()) return;
  retry_at(*output.shortage, at);
}

std::vector<LinkUse> Fabric::use() const {
  std::vector<LinkUse> all;
  for (std::uint32_t vertex = 0; vertex < topology_.vertices(); ++vertex) {
    for (std::uint32_t port = 0; port < topology_.ports(vertex); ++port) {
      const Output& output = outputs_[first_output_[vertex] + port];
      if (output.link_class == Output::kNone) continue;
      all.push_back({vertex, port, output.to, output.packets, output.bytes, cost_of(output).on_wire(output.bytes),
                     output.longest_wait, output.shortage ? output.shortage->packets : 0});
    }
  }
  return all;
}

void Fabric::name_steps(Tracer& tracer) const {
  const auto hop = [this](const Action& action, SimTime, SimTime at) {
    const auto& packet = static_cast<const Packet&>(action);
    Tracer::Parts parts;
    parts.add(Step::queue, at - latency_to(packet.link));  // the packet waited for the link
    parts.add(Step::hop, at);
    if (packet.vertex == packet.to) parts.tail = packet.tail;
    return parts;
  };
  tracer.name(&Fabric::on_arrival, hop);
  tracer.name(&Fabric::on_retry, Step::queue);
  if (rings_) rings_->name_steps(tracer, hop);
  if (choices_) Choices::name_steps(tracer, hop);
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
