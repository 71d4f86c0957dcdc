#include "gasmeter/sim/fabric_trains.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "gasmeter/base/error.hpp"
#include "gasmeter/sim/tracer.hpp"

namespace gasmeter::sim {
SimTime FabricSink::train_arrived(Train&, std::uint32_t, const Packet&, SimTime) {
  throw UsageError("fabric: a train has come to a network that knows of none");
}

void FabricSink::train_departed(Train&, SimTime) {}

Fabric::Trains::Trains(Fabric& fabric)
    : fabric_(fabric),
      cost_(fabric.costs_[0]),
      // What comes to one router in one instant by several links is in the order of its packets, not of trains.
      together_(fabric.links().trains && fabric.all_cost_the_same() && fabric.topology_.chooser() == nullptr),
      carriages_(fabric.engine_.partitions()),
      notices_(fabric.engine_.partitions()) {
  expected_.resize(fabric.topology_.vertices());
  if (!together_) return;
  open_.resize(fabric.outputs_.size());
  if (fabric.has_limit()) withdrawn_.resize(fabric.outputs_.size(), kSettled);
}

// A carriage that comes again is one whose next packet is still on the wire.
void Fabric::Trains::name_steps(Tracer& tracer) const {
  tracer.name(&Trains::on_carriage, [this](const Action& action, SimTime, SimTime at) {
    const auto& carriage = static_cast<const Carriage&>(action);
    Tracer::Parts parts;
    if (carriage.again) {
      parts.add(Step::wire, at);
    } else {
      parts.add(Step::queue, at - fabric_.latency_to(carriage.link));
      parts.add(Step::hop, at);
    }
    if (carriage.vertex == carriage.to && carriage.count != 0) {
      parts.tail = together_ ? at + cost_.on_wire(carriage.train->bytes_of(carriage.first)) : carriage.tail;
    }
    return parts;
  });
  tracer.name(&Trains::on_cut, Step::queue);
  tracer.name(&Trains::on_withdrawal, Step::queue);
}

unsigned Fabric::Trains::partition(std::uint32_t vertex) const {
  return fabric_.engine_.partition_of(NodeId{vertex});
}

// ---- pieces of trains

Fabric::Trains::Carriage& Fabric::Trains::make(Train& train, std::uint32_t vertex, std::uint32_t first,
                                               std::uint32_t count) {
  Carriage& carriage = *carriages_.take(partition(vertex));
  carriage.becomes(&Trains::on_carriage);
  carriage.fabric = &fabric_;
  carriage.from = train.from;
  carriage.to = train.to;
  carriage.vertex = vertex;
  carriage.link = kNoLink;
  carriage.channel = 0;
  carriage.kind = kInTrain;
  carriage.watched = train.watched && first + count == train.count;
  carriage.trains = this;
  carriage.train = &train;
  carriage.first = first;
  carriage.count = count;
  carriage.gap = {};
  carriage.again = false;
  return carriage;
}

// Of the same train, where `other` is.
Fabric::Trains::Carriage& Fabric::Trains::part_of(const Carriage& other, std::uint32_t first, std::uint32_t count) {
  Carriage& carriage = make(*other.train, other.vertex, first, count);
  carriage.link = other.link;
  carriage.channel = other.channel;
  carriage.route = other.route;
  carriage.gap = other.gap;
  carriage.arrival = other.arrival + times(other.gap, first - other.first);
  return carriage;
}

bool Fabric::Trains::more_than(const Packet& packet, std::uint32_t count) {
  return static_cast<const Carriage&>(packet).count > count;
}

Packet& Fabric::Trains::part(Packet& packet, std::uint32_t count) {
  auto& all = static_cast<Carriage&>(packet);
  Carriage& carriage = part_of(all, all.first, count);
  if (count == 1) set_single(carriage);
  all.first += count;
  all.count -= count;
  if (all.count == 1) set_single(all);
  return carriage;
}

// Whether its packets can stay together. Those that take no time on a wire would all be there at once, everywhere.
bool Fabric::Trains::even(const Train& train) const {
  return together_ && cost_.on_wire(train.bytes).ps > 0 && cost_.on_wire(train.last_bytes).ps > 0;
}

// A carriage of one packet is a packet; on its way that always was one where packets do not stay together.
void Fabric::Trains::set_single(Carriage& carriage) const {
  carriage.bytes = carriage.train->bytes_of(carriage.first);
  if (carriage.link != kNoLink && !together_) return;
  carriage.tail = carriage.arrival;
  if (carriage.link != kNoLink) carriage.tail += cost_.on_wire(carriage.bytes);
}

// In the place of the arrivals that `tie` is of.
void Fabric::Trains::come_again(Carriage& carriage) {
  const NodeId here{carriage.vertex};
  carriage.again = true;
  expected_[carriage.vertex].push_back(&carriage);
  fabric_.engine_.post(here, here, carriage.arrival, carriage, carriage.tie);
}

void Fabric::Trains::on_carriage(Action& action, SimTime now) {
  auto& carriage = static_cast<Carriage&>(action);
  Trains& self = *carriage.trains;
  if (carriage.again) {
    auto& expected = self.expected_[carriage.vertex];
    *std::find(expected.begin(), expected.end(), &carriage) = expected.back();
    expected.pop_back();
    carriage.again = false;
    if (carriage.count == 0) {
      self.carriages_.give(self.partition(carriage.vertex), &carriage);
      return;
    }
  }
  carriage.arrival = now;
  if (carriage.vertex == carriage.to) {
    self.deliver(carriage, now);
  } else if (carriage.count == 1) {
    self.set_single(carriage);
    self.fabric_.route_one(carriage, now);
  } else {
    self.route(carriage, now);
  }
}

// ---- the ends of the way

void Fabric::Trains::inject(Train& train, SimTime now, SimTime gap) {
  if (train.count == 0 || gap.ps < 0) throw UsageError("fabric: a train without packets, or with a negative gap");
  fabric_.engine_.catch_up(NodeId{train.from});
  if (train.from == train.to) {
    to_itself(train, now, gap);
    return;
  }
  const Route way = fabric_.topology_.route(train.from, train.to);
  const std::uint32_t count = train.count;
  // Those that are there now and do not stay together are packets as all others.
  const std::uint32_t step = gap.ps > 0 || even(train) ? count : 1;
  for (std::uint32_t first = 0; first < count; first += step) {
    Carriage& carriage = make(train, train.from, first, step);
    carriage.arrival = now;
    carriage.gap = gap;
    carriage.route = way;
    if (step == 1) {
      set_single(carriage);
      fabric_.route_one(carriage, now);
    } else {
      carriage.tie = fabric_.engine_.next_tie(NodeId{train.from});
      route(carriage, now);
    }
  }
}

void Fabric::Trains::to_itself(Train& train, SimTime now, SimTime gap) {
  if (train.watched) fabric_.sink_.train_departed(train, now + times(gap, train.count - 1));
  Carriage& all = make(train, train.from, 0, train.count);
  all.arrival = now;
  all.gap = gap;
  if (gap.ps > 0) {
    all.tie = fabric_.engine_.next_tie(NodeId{train.from});
    deliver(all, now);
    return;
  }
  const std::uint32_t count = all.count;
  for (; all.first < count; ++all.first) {
    set_single(all);
    (void)fabric_.sink_.train_arrived(train, all.first, all, now);
  }
  carriages_.give(partition(all.vertex), &all);
}

void Fabric::Trains::deliver(Carriage& carriage, SimTime now) {
  const std::uint32_t link = carriage.link;
  const std::uint32_t channel = carriage.channel;
  const std::uint32_t number = carriage.first;
  set_single(carriage);
  Train& train = *carriage.train;
  const SimTime left = fabric_.sink_.train_arrived(train, number, carriage, now);
  if (carriage.count > 1) {
    ++carriage.first;
    --carriage.count;
    carriage.arrival = now + carriage.gap;
    come_again(carriage);
  } else {
    carriages_.give(partition(carriage.vertex), &carriage);
  }
  if (link != kNoLink) fabric_.give_back(link, channel, left);
}

void Fabric::Trains::departed(const Packet& packet, SimTime end) {
  fabric_.sink_.train_departed(*static_cast<const Carriage&>(packet).train, end);
}

// ---- a hop

void Fabric::Trains::route(Carriage& carriage, SimTime now) {
  const Route before = carriage.route;
  const Hop hop = fabric_.topology_.next(carriage.vertex, carriage.to, carriage.route);
  const std::uint32_t link = fabric_.first_output_[carriage.vertex] + hop.port;
  Output& output = fabric_.outputs_[link];
  if (now <= output.unsettled) settle(link, carriage.vertex, now);
  if (carriage.gap.ps == 0) {
    start_together(link, hop.channel, carriage, now);
    return;
  }
  const std::uint32_t free = room(link, hop.channel, carriage, now);
  const std::uint32_t count = std::clamp(free, 1U, promise(link, carriage, now));
  if (count < carriage.count) {
    Carriage& rest = part_of(carriage, carriage.first + count, carriage.count - count);
    rest.route = before;
    rest.tie = carriage.tie;
    come_again(rest);
    carriage.count = count;
    carriage.watched = false;  // the rest has the last packet
  }
  if (!open_.empty()) open_[link].burst = std::min(2 * open_[link].burst, kLongestBurst);
  if (count > 1) {
    send(link, hop.channel, carriage, now, {});
    open_[link].route = before;
    return;
  }
  set_single(carriage);
  if (free != 0) {
    fabric_.send_one(link, hop.channel, carriage, now);
  } else {
    fabric_.block(link, hop.channel, carriage, now);
  }
}

// How many of the packets find a buffer at the far end by now.
std::uint32_t Fabric::Trains::room(std::uint32_t link, std::uint32_t channel, const Carriage& carriage, SimTime now) {
  if (!fabric_.has_limit()) return carriage.count;
  Output& output = fabric_.outputs_[link];
  if (output.shortage && !output.shortage->blocked[channel].empty()) return 0;
  if (output.room[channel] < carriage.count) {
    (void)fabric_.shortage_of(link, carriage.vertex);
    fabric_.look_for_room(output, now);
  }
  return std::min(carriage.count, output.room[channel]);
}

// How many of the packets can have their turn ahead of time, apart from buffers: as long as they follow one another
// evenly.
std::uint32_t Fabric::Trains::promise(std::uint32_t link, const Carriage& carriage, SimTime now) const {
  const Output& output = fabric_.outputs_[link];
  if (!even(*carriage.train) || (output.shortage && output.shortage->waiting != 0)) return 1;
  std::int64_t count = std::min(carriage.count, open_[link].burst);
  if (carriage.link == kNoLink) {
    if (carriage.watched && count > 1) --count;  // when the last one has left is told when it is certain
  } else if (!withdrawn_.empty() && now <= withdrawn_[carriage.link]) {
    return 1;
  }
  const SimTime wire = cost_.on_wire(carriage.train->bytes);
  if (output.free > now && carriage.gap > wire) {
    // They close up until one finds the link free.
    count = std::min(count, (output.free - now).ps / (carriage.gap - wire).ps + 1);
  }
  return static_cast<std::uint32_t>(count);
}

// Whole trains at their first router. Those that find no buffer wait there together.
void Fabric::Trains::start_together(std::uint32_t link, std::uint32_t channel, Carriage& carriage, SimTime now) {
  const std::uint32_t free = room(link, channel, carriage, now);
  const bool all = free == carriage.count;
  if (free != 0) {
    auto& head = all ? carriage : static_cast<Carriage&>(part(carriage, free));
    if (head.count == 1) {
      set_single(head);
      fabric_.send_one(link, channel, head, now);
    } else {
      const SimTime start = std::max(now, fabric_.outputs_[link].free);
      send(link, channel, head, now, start + times(cost_.on_wire(carriage.train->bytes), free - 1) - now);
    }
  }
  if (all) return;
  Shortage& shortage = fabric_.shortage_of(link, carriage.vertex);
  const bool first = shortage.blocked[channel].empty();
  shortage.packets += carriage.count;
  ++shortage.waiting;
  shortage.blocked[channel].push(&carriage);
  if (first) fabric_.look_again(shortage, now);
}

// Several packets that follow one another evenly.
void Fabric::Trains::send(std::uint32_t link, std::uint32_t channel, Carriage& carriage, SimTime now,
                          SimTime longest_wait) {
  Output& output = fabric_.outputs_[link];
  const Train& train = *carriage.train;
  const SimTime start = std::max(now, output.free);
  const SimTime wire = cost_.on_wire(train.bytes);
  const SimTime last = cost_.on_wire(train.bytes_of(carriage.first + carriage.count - 1));
  const SimTime gap = start == now ? std::max(carriage.gap, wire) : wire;
  output.free = start + times(gap, carriage.count - 1) + last;
  output.packets += carriage.count;
  output.bytes += bytes_of(train, carriage.first, carriage.count);
  if (fabric_.has_limit()) output.room[channel] -= carriage.count;
  if (carriage.link != kNoLink && fabric_.has_limit()) {
    for (std::uint32_t packet = 0; packet + 1 < carriage.count; ++packet) {
      fabric_.give_back(carriage.link, carriage.channel, start + times(gap, packet) + wire);
    }
    fabric_.give_back(carriage.link, carriage.channel, output.free);
  }
  if (carriage.gap.ps != 0) {
    open(link, carriage, channel, start, gap);
  } else {
    output.longest_wait = std::max(output.longest_wait, longest_wait);
    if (carriage.watched) departed(carriage, output.free);
  }
  const NodeId here{carriage.vertex};
  const NodeId to{output.to};
  carriage.link = fabric_.far_end(output);
  carriage.channel = static_cast<std::uint8_t>(channel);
  carriage.vertex = output.to;
  carriage.gap = gap;
  carriage.tie = fabric_.engine_.next_tie(here);
  fabric_.engine_.post(here, to, start + cost_.latency, carriage, carriage.tie);
}

void Fabric::Trains::open(std::uint32_t link, const Carriage& carriage, std::uint32_t channel, SimTime start,
                          SimTime start_gap) {
  Output& output = fabric_.outputs_[link];
  OpenTrain& open = open_[link];
  open.train = carriage.train;
  open.first = carriage.first;
  open.count = carriage.count;
  open.arrival = carriage.arrival;
  open.gap = carriage.gap;
  open.start = start;
  open.start_gap = start_gap;
  open.tie = carriage.tie;
  open.link = carriage.link;
  open.channel = carriage.channel;
  open.out_channel = channel;
  open.waited = output.longest_wait;
  count_waits(link);
  output.unsettled = carriage.arrival + times(carriage.gap, carriage.count - 1);
}

}  // namespace gasmeter::sim
