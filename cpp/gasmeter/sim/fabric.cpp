#include "gasmeter/sim/fabric.hpp"

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>

#include "gasmeter/base/error.hpp"
#include "gasmeter/sim/fabric_rings.hpp"
#include "gasmeter/sim/fabric_state.hpp"
#include "gasmeter/sim/fabric_trains.hpp"
#include "gasmeter/sim/tracer.hpp"

namespace gasmeter::sim {

namespace {
constexpr std::uint32_t kNoLimit = 1;  // of buffers: as if one were always free
}  // namespace

Fabric::Fabric(Engine& engine, Topology topology, const LinkParameters& links, FabricSink& sink)
    : Fabric(engine, std::move(topology), FabricParameters(links), sink) {}

Fabric::Fabric(Engine& engine, Topology topology, const FabricParameters& parameters, FabricSink& sink)
    : engine_(engine),
      topology_(std::move(topology)),
      parameters_(parameters),
      sink_(sink),
      channels_(topology_.channels()),
      arrival_(&Fabric::on_arrival),
      one_thread_(engine.partitions() == 1) {
  const std::uint32_t vertices = topology_.vertices();
  if (engine.nodes() != vertices) {
    throw UsageError("fabric: an engine of " + std::to_string(engine.nodes()) + " nodes for the " +
                     std::to_string(vertices) + " routers of " + topology_.name());
  }
  set_classes();
  set_links();
  trains_ = std::make_unique<Trains>(*this);
  if (topology_.one_way()) {
    rings_ = std::make_unique<Rings>(*this);
    arrival_ = &Rings::on_arrival;
  }
  has_express_ = express_ = can_be_express();
  engine_.set_wiring(&Fabric::on_express, *this);
}

// Where a train or a slower link may be in front, the last byte is not simply so long behind the head. Links of which
// several packets come at one instant would need to be told which one is first.
bool Fabric::can_be_express() {
  const auto extents = topology_.extents();
  if (extents.empty() || rings_ || !all_cost_the_same() || parameters_.links.trains || costs_[0].on_wire(1).ps == 0) {
    return false;
  }
  code_ = WayCode(static_cast<std::uint32_t>(extents.size()));
  ports_ = topology_.max_ports();
  return std::all_of(extents.begin(), extents.end(), [this](std::uint32_t extent) {
    return code_.holds(channels_ > 1 ? extent / 2 : extent - 1);  // where one dimension wraps all do
  });
}

// What each class costs, looked up here and never again.
void Fabric::set_classes() {
  const std::vector<std::string> names = topology_.link_classes();
  for (const auto& [name, links] : parameters_.classes) {
    if (std::find(names.begin(), names.end(), name) != names.end()) continue;
    std::string known;
    for (const std::string& each : names) known += (known.empty() ? "" : ", ") + each;
    throw UsageError("fabric: " + topology_.name() + " has no links of class `" + name + "`; its classes are " + known);
  }
  std::uint32_t most = 0;
  for (std::size_t number = 0; number < names.size(); ++number) {
    const auto found = parameters_.classes.find(names[number]);
    const LinkParameters& links = found == parameters_.classes.end() ? parameters_.links : found->second;
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
  // Credits of trains may be there twice for a while (Trains::withdraw).
  places_ = most != 0 ? CreditReturn::places(most * channels_ * (parameters_.links.trains ? 2 : 1)) : 0;
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
  if (has_limit()) credits_.resize(outputs_.size() * places_);
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
      inputs_[far_end(output)].latency = cost_of(output).latency;
    }
  }
}

std::uint32_t Fabric::far_end(const Output& output) const {
  return first_output_[output.to] + output.far_port;
}

NodeId Fabric::origin(const Posted& express) const {
  return NodeId{outputs_[input_of(express)].to};
}

CreditReturn Fabric::credits(Output& output) {
  const std::uint32_t input = far_end(output);
  return {inputs_[input].given, output.read, &credits_[static_cast<std::size_t>(input) * places_], places_};
}

// Ends and beginnings of links are on threads of their own.
void Fabric::give_apart(std::uint32_t input, std::uint32_t channel, SimTime at) {
  const Output& back = outputs_[input];
  const NodeId near{back.to};
  Partition& here = engine_.partition(NodeId{outputs_[far_end(back)].to});
  if (here.holds(near)) {
    give(input, channel, at);
  } else {
    here.send_credit(near, input, channel, at);
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
  packet.becomes(arrival_);
  if (packet.from == packet.to) {
    if (packet.watched) sink_.departed(packet, now);
    (void)sink_.arrived(packet, now);
    return;
  }
  packet.route = topology_.route(packet.from, packet.to);
  if (GASMETER_LIKELY(express_ && packet.bytes != 0)) {
    inject_express(packet, now);
  } else {
    route(packet, now);
  }
}

void Fabric::inject(Train& train, SimTime now, SimTime gap) {
  if (rings_) throw UsageError("fabric: a train on " + topology_.name() + "; one-way rings carry single packets");
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
  if (GASMETER_LIKELY(outputs_[link].room[hop.channel] != 0)) {
    send(outputs_[link], hop.channel, packet, now);
  } else {
    block(link, hop.channel, packet, now);
  }
}

// As soon as the link is free; a buffer at the far end is taken from now on. `tail`: when the last byte is here.
GASMETER_INLINE Fabric::Crossing Fabric::cross(Output& output, const LinkCost& cost, std::uint32_t channel, Bytes bytes,
                                               SimTime now, SimTime tail) {
  // No branch: whether the link is free nobody could predict.
  const std::int64_t busy = (output.free - now).ps;
  const SimTime wait{busy & ~(busy >> 63)};
  const SimTime start = now + wait;
  // The last byte cannot leave before it is here.
  const SimTime end = std::max(start + cost.on_wire(bytes), tail);
  if (GASMETER_UNLIKELY(wait > output.longest_wait)) output.longest_wait = wait;
  output.free = end;
  ++output.packets;
  output.bytes += bytes;
  output.room[channel] -= taken_;
  return {start, end};
}

GASMETER_INLINE void Fabric::send(Output& output, std::uint32_t channel, Packet& packet, SimTime now) {
  const LinkCost& cost = cost_of(output);
  const Crossing crossing = cross(output, cost, channel, packet.bytes, now, packet.tail);
  if (packet.link != kNoLink) {
    give_back(packet.link, packet.channel, crossing.end);
  } else if (packet.watched) {
    tell_departed(packet, crossing.end);
  }
  const SimTime at = crossing.start + cost.latency;
  const NodeId here{packet.vertex};
  if (GASMETER_LIKELY(express_ && packet.bytes != 0)) {
    std::uint64_t way = code_.pack(packet.route);
    const Hop hop = WayCode::goes_on(way) ? code_.next(way) : Express::kEnd;
    engine_.partition(here).send(NodeId{output.to}, at, packet,
                                 Express(output.far_port, channel, hop, way, packet.bytes));
    return;
  }
  packet.link = far_end(output);
  packet.channel = static_cast<std::uint8_t>(channel);
  packet.vertex = output.to;
  packet.tail = crossing.end + cost.latency;
  engine_.post(here, NodeId{output.to}, at, packet);
}

// What finds a buffer on its way is not touched: it may be far away in memory.
GASMETER_INLINE void Fabric::inject_express(Packet& packet, SimTime now) {
  const Hop hop = packet.route.next();
  const std::uint32_t link = packet.vertex * ports_ + hop.port;
  if (GASMETER_LIKELY(outputs_[link].room[hop.channel] != 0)) {
    send(outputs_[link], hop.channel, packet, now);
  } else {
    block(link, hop.channel, packet, now);
  }
}

void Fabric::on_express(Wiring& wiring, Partition& here, const Posted& entry, const Posted& ahead, SimTime now) {
  auto& self = static_cast<Fabric&>(wiring);
  if (GASMETER_LIKELY(ahead.is_express())) self.fetch(ahead);
  const Express express(entry.express);
  if (GASMETER_LIKELY(express.goes_on() && self.express_)) {
    const Hop hop = express.hop();
    const std::uint32_t first = entry.node() * self.ports_;
    Output& output = self.outputs_[first + hop.port];
    if (GASMETER_LIKELY(output.room[hop.channel] != 0 || self.find_room(output, hop.channel, now))) {
      const LinkCost& cost = self.costs_[0];
      const Crossing crossing = self.cross(output, cost, hop.channel, express.bytes(), now, now);
      self.give_back(first + express.port(), express.channel(), crossing.end);
      std::uint64_t way = express.way();
      const Hop next = WayCode::goes_on(way) ? self.code_.next(way) : Express::kEnd;
      here.send(NodeId{output.to}, crossing.start + cost.latency, *entry.action,
                express.over(output.far_port, hop.channel, next, way));
      return;
    }
  }
  self.set_down(entry, now);
  here.now_tie = express_tie(self.origin(entry));
  (*entry.action)(now);
}

// What happens next is in memory that nobody has touched for a while.
GASMETER_INLINE void Fabric::fetch(const Posted& entry) const {
  const Express express(entry.express);
  const std::uint32_t first = entry.node() * ports_;
  const void* const output = &outputs_[first + express.hop().port];
  prefetch_write(express.goes_on() ? output : entry.action);
  prefetch_write(&inputs_[first + express.port()]);
}

void Fabric::set_down(const Posted& entry, SimTime now) {
  const Express express(entry.express);
  auto& packet = static_cast<Packet&>(*entry.action);
  packet.link = input_of(entry);
  packet.channel = static_cast<std::uint8_t>(express.channel());
  packet.vertex = entry.node();
  packet.tail = now + costs_[0].on_wire(express.bytes());
  if (express.goes_on()) {
    std::uint64_t way = express.way();
    code_.put_back(way, express.hop());
    packet.route = code_.unpack(way);
  }
}

void Fabric::route_one(Packet& packet, SimTime now) {
  route(packet, now);
}

void Fabric::send_one(std::uint32_t link, std::uint32_t channel, Packet& packet, SimTime now) {
  send(outputs_[link], channel, packet, now);
}

void Fabric::tell_departed(Packet& packet, SimTime end) {
  if (packet.kind == kInTrain) {
    trains_->departed(packet, end);
  } else {
    sink_.departed(packet, end);
  }
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

// For who comes where nobody waits: whether a buffer has fallen free that nobody had to know of.
bool Fabric::find_room(Output& output, std::uint32_t channel, SimTime now) {
  if (output.is_short) return false;
  credits(output).take(now, output.room);
  return output.room[channel] != 0;
}

// What is found for a channel that packets wait for is theirs at the retry of this very instant: nobody overtakes them.
GASMETER_INLINE void Fabric::look_for_room(Output& output, SimTime now) {
  if (!output.is_short) {
    credits(output).take(now, output.room);
    return;
  }
  Shortage& shortage = *output.shortage;
  credits(output).take(now, shortage.found);
  for (std::uint32_t channel = 0; channel < channels_; ++channel) {
    if (shortage.blocked[channel].empty()) output.room[channel] += std::exchange(shortage.found[channel], 0);
  }
}

// Behind those that are blocked already, unless buffers have fallen free unnoticed.
void Fabric::block(std::uint32_t link, std::uint32_t channel, Packet& packet, SimTime now) {
  Output& output = outputs_[link];
  if (!output.is_short) {
    credits(output).take(now, output.room);
    if (output.room[channel] != 0) return send(output, channel, packet, now);
  }
  Shortage& shortage = shortage_of(link, packet.vertex);
  const bool first = shortage.blocked[channel].empty();
  if (first) look_for_room(output, now);
  if (first && output.room[channel] != 0) return send(output, channel, packet, now);
  ++shortage.packets;
  ++shortage.waiting;
  shortage.blocked[channel].push(&packet);
  if (first) look_again(shortage, now);
}

void Fabric::look_once(Output& output, SimTime now) {
  look_for_room(output, now);
}

void Fabric::on_retry(Action& action, SimTime now) {
  auto& shortage = static_cast<Shortage&>(action);
  Fabric& self = *shortage.fabric;
  if (shortage.retry_at != now) {  // brought forward
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

// Blocked packets for which buffers are free by now are sent, channels in turn.
void Fabric::retry(Shortage& shortage, SimTime now) {
  Output& output = outputs_[shortage.link];
  if (now <= output.unsettled) trains_->settle(shortage.link, shortage.vertex, now);
  look_for_room(output, now);
  for (std::uint32_t channel = 0; channel < channels_; ++channel) {
    output.room[channel] += std::exchange(shortage.found[channel], 0);
  }
  for (bool more = true; more;) {
    more = false;
    for (std::uint32_t channel = 0; channel < channels_; ++channel) {
      if (shortage.blocked[channel].empty() || output.room[channel] == 0) continue;
      send(output, channel, take_blocked(shortage, channel, 1), now);
      more = true;
    }
  }
  output.unsettled = kSettled;
}

// `count`: of a train, whose packets may wait together.
Packet& Fabric::take_blocked(Shortage& shortage, std::uint32_t channel, std::uint32_t count) {
  Packet& packet = *shortage.blocked[channel].front();
  if (packet.kind == kInTrain && Trains::more_than(packet, count)) return trains_->part(packet, count);
  --shortage.waiting;
  return *shortage.blocked[channel].pop();
}

// When the next buffer falls free, as far as that is known; from now on the link is told of others.
void Fabric::look_again(Shortage& shortage, SimTime now) {
  SimTime at = kNever;
  for (std::uint32_t channel = 0; channel < channels_; ++channel) {
    if (shortage.blocked[channel].empty()) continue;
    at = std::min(at, credits(outputs_[shortage.link]).next(channel));
    // Found by a packet of the other channel that came in the same instant.
    if (shortage.found[channel] != 0) at = now;
  }
  set_short(outputs_[shortage.link], true);
  retry_at(shortage, trains_->put_off(shortage, at));
}

void Fabric::set_short(Output& output, bool is_short) {
  output.is_short = is_short;
  inputs_[far_end(output)].is_awaited = is_short;
}

void Fabric::retry_at(Shortage& shortage, SimTime at) {
  if (shortage.retry_at <= at) return;
  shortage.retry_at = at;
  const NodeId there{shortage.vertex};
  engine_.post(there, there, at, shortage, credit_tie(there));
}

GASMETER_NOINLINE void Fabric::credit_awaited(std::uint32_t input, std::uint32_t channel, SimTime at) {
  const Output& output = outputs_[far_end(outputs_[input])];
  if (output.shortage->blocked[channel].empty()) return;
  if (output.unsettled != kSettled) return;  // a train that waits until the link is free
  retry_at(*output.shortage, at);
}

std::vector<LinkUse> Fabric::use() const {
  std::vector<LinkUse> all;
  for (std::uint32_t vertex = 0; vertex < topology_.vertices(); ++vertex) {
    for (std::uint32_t port = 0; port < topology_.ports(vertex); ++port) {
      const Output& output = outputs_[first_output_[vertex] + port];
      if (output.link_class == Output::kNone) continue;
      const auto [packets, bytes] = trains_->ahead(first_output_[vertex] + port, engine_.now());
      all.push_back({vertex, port, output.to, output.packets - packets, output.bytes - bytes,
                     cost_of(output).on_wire(output.bytes - bytes), output.longest_wait,
                     output.shortage ? output.shortage->packets : 0});
    }
  }
  return all;
}

void Fabric::name_steps(Tracer& tracer) const {
  const auto hop = [this](const Action& action, SimTime, SimTime at) {
    const auto& packet = static_cast<const Packet&>(action);
    Tracer::Parts parts;
    parts.add(Step::queue, at - inputs_[packet.link].latency);  // for the link
    parts.add(Step::hop, at);
    if (packet.vertex == packet.to) parts.tail = packet.tail;
    return parts;
  };
  tracer.name(&Fabric::on_arrival, hop);
  tracer.name(&Fabric::on_retry, Step::queue);
  trains_->name_steps(tracer);
  if (rings_) rings_->name_steps(tracer, hop);
}

void Fabric::reset_use() {
  for (std::uint32_t link = 0; link != outputs_.size(); ++link) {
    Output& output = outputs_[link];
    std::tie(output.packets, output.bytes) = trains_->ahead(link, engine_.now());
    output.longest_wait = {};
    trains_->forget_waits(link);
    if (output.shortage) output.shortage->packets = 0;
  }
}

}  // namespace gasmeter::sim
