#include "gasmeter/sim/fabric_trains.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "gasmeter/base/error.hpp"

namespace gasmeter::sim {
namespace {

constexpr std::uint32_t kLongestBurst = 1U << 30U;

SimTime times(SimTime gap, std::uint64_t count) {
  return {gap.ps * static_cast<std::int64_t>(count)};
}

std::uint64_t bytes_of(const Train& train, std::uint32_t first, std::uint32_t count) {
  return std::uint64_t{train.bytes} * (count - 1) + train.bytes_of(first + count - 1);
}

}  // namespace

SimTime FabricSink::train_arrived(Train&, std::uint32_t, const Packet&, SimTime) {
  throw UsageError("fabric: a train has come to a network that knows of none");
}

void FabricSink::train_departed(Train&, SimTime) {}

Fabric::Trains::Trains(Fabric& fabric)
    : fabric_(fabric), carriages_(fabric.engine_.partitions()), notices_(fabric.engine_.partitions()) {
  expected_.resize(fabric.topology_.vertices());
  if (!fabric.parameters_.trains) return;
  open_.resize(fabric.outputs_.size());
  if (fabric.has_limit()) withdrawn_.resize(fabric.outputs_.size(), kSettled);
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
  return fabric_.parameters_.trains && fabric_.on_wire(train.bytes).ps > 0 && fabric_.on_wire(train.last_bytes).ps > 0;
}

// A carriage of one packet is a packet.
void Fabric::Trains::set_single(Carriage& carriage) const {
  carriage.bytes = carriage.train->bytes_of(carriage.first);
  carriage.tail = carriage.arrival;
  if (carriage.link != kNoLink) carriage.tail += fabric_.on_wire(carriage.bytes);
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
  const SimTime wire = fabric_.on_wire(carriage.train->bytes);
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
      send(link, channel, head, now, start + times(fabric_.on_wire(carriage.train->bytes), free - 1) - now);
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
  const SimTime wire = fabric_.on_wire(train.bytes);
  const SimTime last = fabric_.on_wire(train.bytes_of(carriage.first + carriage.count - 1));
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
  carriage.link = output.far_end;
  carriage.channel = static_cast<std::uint8_t>(channel);
  carriage.vertex = output.to;
  carriage.gap = gap;
  carriage.tie = fabric_.engine_.next_tie(here);
  fabric_.engine_.post(here, to, start + fabric_.parameters_.latency, carriage, carriage.tie);
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

// The first packet waits longest, or the last one where they come faster than they can go.
void Fabric::Trains::count_waits(std::uint32_t link) {
  const OpenTrain& open = open_[link];
  const SimTime first = open.start - open.arrival;
  const SimTime last = first + times(open.start_gap, open.count - 1) - times(open.gap, open.count - 1);
  fabric_.outputs_[link].longest_wait = std::max({open.waited, first, last});
}

// ---- when something is in the way

void Fabric::Trains::settle(std::uint32_t link, std::uint32_t vertex, SimTime now) {
  Output& output = fabric_.outputs_[link];
  const Tie tie = fabric_.engine_.tie_of_now(NodeId{vertex});
  output.unsettled = kSettled;
  OpenTrain& open = open_[link];
  if (open.train == nullptr) {
    const bool credits_first = tie >= credit_tie(NodeId{vertex});
    catch_up(link, credits_first ? now : now - SimTime{1});
    open.settled = now;
    if (output.shortage->waiting != 0) output.unsettled = output.shortage->retry_at;
    return;
  }
  // Packets that are there by now, at this very instant by the order of events.
  const std::int64_t since = (now - open.arrival).ps;
  auto kept = static_cast<std::uint32_t>(since / open.gap.ps);
  if (since % open.gap.ps != 0 || open.tie < tie) ++kept;
  kept = std::max(kept, 1U);
  if (kept < open.count) {
    Carriage& rest = make(*open.train, vertex, open.first + kept, open.count - kept);
    rest.link = open.link;
    rest.channel = static_cast<std::uint8_t>(open.channel);
    rest.route = open.route;
    rest.gap = open.gap;
    rest.arrival = open.arrival + times(open.gap, kept);
    rest.tie = open.tie;
    cut(link, vertex, kept, now);
    come_again(rest);
    open.burst = 1;
  }
  open.train = nullptr;
}

// The open train has `kept` packets, one or more; what was promised to the others is taken back.
void Fabric::Trains::cut(std::uint32_t link, std::uint32_t vertex, std::uint32_t kept, SimTime now) {
  Output& output = fabric_.outputs_[link];
  OpenTrain& open = open_[link];
  const std::uint32_t taken_back = open.count - kept;
  withdraw(open, vertex, kept, now);
  output.free = open.start + times(open.start_gap, kept - 1) + fabric_.on_wire(open.train->bytes);
  output.packets -= taken_back;
  output.bytes -= bytes_of(*open.train, open.first + kept, taken_back);
  if (fabric_.has_limit()) output.room[open.out_channel] += taken_back;
  open.count = kept;
  count_waits(link);
  Notice& notice = *notices_.take(partition(vertex));
  notice.becomes(&Trains::on_cut);
  notice.trains = this;
  notice.train = open.train;
  notice.vertex = output.to;
  notice.first = open.first + kept;
  // Not before the first packet; where that is there already, before all others of the instant.
  const NodeId here{vertex};
  const Tie tie = now > open.start ? event_tie(here, 0) : fabric_.engine_.next_tie(here);
  const SimTime at = std::max(now, open.start) + fabric_.parameters_.latency;
  fabric_.engine_.post(here, NodeId{output.to}, at, notice, tie);
}

void Fabric::Trains::on_cut(Action& action, SimTime now) {
  auto& notice = static_cast<Notice&>(action);
  Trains& self = *notice.trains;
  for (Carriage* const carriage : self.expected_[notice.vertex]) {
    if (carriage->train != notice.train) continue;
    carriage->count = notice.first <= carriage->first ? 0 : std::min(carriage->count, notice.first - carriage->first);
    if (carriage->count == 0) carriage->train = nullptr;
  }
  const std::uint32_t first = self.fabric_.first_output_[notice.vertex];
  const std::uint32_t end = self.fabric_.first_output_[notice.vertex + 1];
  for (std::uint32_t link = first; link != end; ++link) {
    Output& output = self.fabric_.outputs_[link];
    const OpenTrain& open = self.open_[link];
    if (now > output.unsettled || open.train != notice.train) continue;
    if (notice.first >= open.first + open.count) continue;
    self.cut(link, notice.vertex, notice.first - open.first, now);
    output.unsettled = open.arrival + times(open.gap, open.count - 1);
  }
  self.notices_.give(self.partition(notice.vertex), &notice);
}

// Credits for packets that leave their buffers later than it was said.
void Fabric::Trains::withdraw(const OpenTrain& open, std::uint32_t vertex, std::uint32_t kept, SimTime now) {
  if (withdrawn_.empty() || open.link == kNoLink) return;
  const SimTime latency = fabric_.parameters_.latency;
  const SimTime wire = fabric_.on_wire(open.train->bytes);
  const SimTime last = fabric_.on_wire(open.train->bytes_of(open.first + open.count - 1));
  Notice& notice = *notices_.take(partition(vertex));
  notice.becomes(&Trains::on_withdrawal);
  notice.trains = this;
  notice.vertex = fabric_.outputs_[open.link].to;
  notice.link = fabric_.outputs_[open.link].far_end;
  notice.channel = open.channel;
  notice.count = open.count - kept;
  notice.at = open.start + times(open.start_gap, kept) + wire + latency;
  notice.gap = open.start_gap;
  notice.last = open.start + times(open.start_gap, open.count - 1) + last + latency;
  fabric_.engine_.post(NodeId{vertex}, NodeId{notice.vertex}, now + latency, notice);
  // By then the near end has read the ring for certain, in an earlier window.
  withdrawn_[open.link] = now + latency + latency;
}

void Fabric::Trains::on_withdrawal(Action& action, SimTime) {
  auto& notice = static_cast<Notice&>(action);
  Trains& self = *notice.trains;
  Fabric& fabric = self.fabric_;
  const CreditReturn from = fabric.credits(fabric.outputs_[notice.link].far_end);
  CreditsComing& coming = fabric.shortage_of(notice.link, notice.vertex).returned;
  for (std::uint32_t credit = 0; credit + 1 < notice.count; ++credit) {
    coming.withdraw(from, notice.at + times(notice.gap, credit), notice.channel);
  }
  coming.withdraw(from, notice.last, notice.channel);
  self.notices_.give(self.partition(notice.vertex), &notice);
}

// ---- trains that wait at their first router

SimTime Fabric::Trains::put_off(Shortage& shortage, SimTime at) {
  Output& output = fabric_.outputs_[shortage.link];
  output.unsettled = kSettled;
  if (open_.empty() || output.free <= at) return at;
  const Packet* front = nullptr;
  for (const PacketQueue& blocked : output.shortage->blocked) {
    if (blocked.empty()) continue;
    if (front != nullptr) return at;  // channels take turns
    front = blocked.front();
  }
  if (front->kind != kInTrain || !more_than(*front, 1)) return at;
  open_[shortage.link].train = nullptr;
  output.unsettled = output.free;
  return output.free;
}

// Sends what would have been sent until `now`, as credits came; the link has not been free since.
void Fabric::Trains::catch_up(std::uint32_t link, SimTime now) {
  Output& output = fabric_.outputs_[link];
  Shortage& shortage = *output.shortage;
  if (shortage.waiting == 0) return;
  const std::uint32_t own = shortage.blocked[0].empty() ? 1 : 0;
  // A packet of the other channel may have found some of this very instant.
  std::vector<SimTime> credits(std::exchange(output.room[own], 0), open_[link].settled);
  shortage.returned.take_each(fabric_.credits(output.far_end), now, [&](SimTime at, std::uint32_t channel) {
    if (channel == own) {
      credits.push_back(at);
    } else {
      ++output.room[channel];
    }
  });
  output.room[own] = static_cast<std::uint32_t>(credits.size());
  std::sort(credits.begin(), credits.end());
  PacketQueue& blocked = shortage.blocked[own];
  for (std::size_t next = 0; next < credits.size() && !blocked.empty();) {
    const SimTime turn = credits[next];
    std::uint32_t count = 1;
    if (blocked.front()->kind == kInTrain) {
      const auto& front = static_cast<const Carriage&>(*blocked.front());
      count = static_cast<std::uint32_t>(std::min<std::size_t>(front.count, credits.size() - next));
    }
    const SimTime start = std::max(turn, output.free);
    Packet& packet = fabric_.take_blocked(shortage, own, count);
    if (count == 1) {
      fabric_.send_one(link, own, packet, turn);
    } else {
      auto& carriage = static_cast<Carriage&>(packet);
      const SimTime wire = fabric_.on_wire(carriage.train->bytes);
      SimTime longest_wait;
      for (std::uint32_t each = 0; each < count; ++each) {
        longest_wait = std::max(longest_wait, start + times(wire, each) - credits[next + each]);
      }
      send(link, own, carriage, turn, longest_wait);
    }
    next += count;
  }
}

std::pair<std::uint32_t, std::uint64_t> Fabric::Trains::ahead(std::uint32_t link, SimTime now) const {
  if (open_.empty() || now > fabric_.outputs_[link].unsettled || open_[link].train == nullptr) return {0, 0};
  const OpenTrain& open = open_[link];
  const std::int64_t since = (now - open.arrival).ps;
  const auto there = static_cast<std::uint32_t>((since + open.gap.ps - 1) / open.gap.ps);
  if (there >= open.count) return {0, 0};
  return {open.count - there, bytes_of(*open.train, open.first + there, open.count - there)};
}

void Fabric::Trains::forget_waits(std::uint32_t link) {
  if (!open_.empty()) open_[link].waited = {};
}

}  // namespace gasmeter::sim
