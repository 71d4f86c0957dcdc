// Trains that are cut, and trains that wait.
#include <algorithm>
#include <utility>
#include <vector>

#include "gasmeter/sim/fabric_trains.hpp"

namespace gasmeter::sim {

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
  output.free = open.start + times(open.start_gap, kept - 1) + cost_.on_wire(open.train->bytes);
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
  const SimTime at = std::max(now, open.start) + cost_.latency;
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
  const SimTime latency = cost_.latency;
  const SimTime wire = cost_.on_wire(open.train->bytes);
  const SimTime last = cost_.on_wire(open.train->bytes_of(open.first + open.count - 1));
  Notice& notice = *notices_.take(partition(vertex));
  notice.becomes(&Trains::on_withdrawal);
  notice.trains = this;
  notice.vertex = fabric_.outputs_[open.link].to;
  notice.link = fabric_.far_end(fabric_.outputs_[open.link]);
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
  CreditReturn credits = fabric.credits(fabric.outputs_[notice.link]);
  for (std::uint32_t credit = 0; credit + 1 < notice.count; ++credit) {
    credits.withdraw(notice.at + times(notice.gap, credit), notice.channel);
  }
  credits.withdraw(notice.last, notice.channel);
  self.notices_.give(self.partition(notice.vertex), &notice);
}

// ---- trains that wait at their first router

// Whatever buffers are known of by `now`: of two nodes of one window either may be the first.
SimTime Fabric::Trains::put_off(Shortage& shortage, SimTime at, SimTime now) {
  Output& output = fabric_.outputs_[shortage.link];
  output.unsettled = kSettled;
  if (open_.empty() || output.free <= now) return at;
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
  std::vector<SimTime> credits(std::exchange(shortage.found[own], 0), open_[link].settled);
  fabric_.credits(output).take_each(now, [&](SimTime at, std::uint32_t channel) {
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
      const SimTime wire = cost_.on_wire(carriage.train->bytes);
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
