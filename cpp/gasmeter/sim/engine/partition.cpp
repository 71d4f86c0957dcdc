#include "gasmeter/sim/engine/partition.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "gasmeter/base/error.hpp"
#include "gasmeter/sim/engine/engine.hpp"
#include "gasmeter/sim/engine/stop_token.hpp"

namespace gasmeter::sim {
namespace {

constexpr std::int64_t kLongestRun = std::int64_t{1}
                                     << 25;  // ps that a lone node's rank goes on without a look at the stop token

}  // namespace

RankContext::RankContext() : take_turn(&Partition::on_turn, this), wake([](Action&, SimTime) {}, this) {}

Partition::Partition(unsigned number, unsigned partitions, Engine& of, std::vector<Node>& nodes, const StopToken& stop)
    : engine(&of), alone_(nodes.size() == 1), number_(number), nodes_(nodes), stop_(stop) {
  if (alone_) {
    window_end_ = kLastInstant.ps + 1;
  }
  for (auto& sent : sent_) sent.resize(partitions);
}

SimTime Partition::checked_end(SimTime at) const {
  if (engine->cancelled() || unwinding()) return kLastInstant;
  const std::string when = at < kTooLate ? std::to_string(at.ps / 1'000'000'000'000) + " s" : "a later instant";
  throw UsageError("sim: virtual time ends at " + std::to_string(kLastInstant.ps / 1'000'000'000'000) +
                   " s (46 days) and something is to happen at " + when +
                   "; use shorter times, higher bandwidths or less work");
}

void Partition::post_elsewhere(NodeId to, SimTime at, Action& action) {
  if (GASMETER_LIKELY(to == node_ && window_end_ != kClosed)) return put_later(to, at, &action, Express::kNone);
  if (window_end_ != kClosed && to != node_ && at - now < lookahead_) {
    throw UsageError("sim: node " + std::to_string(index(node_)) + " reaches node " + std::to_string(index(to)) +
                     " within " + std::to_string((at - now).ps) + " ps; the network promised no less than " +
                     std::to_string(lookahead_.ps));
  }
  put_elsewhere(to, at, &action, Express::kNone);
}

// Post in a window of this partition behind the next one; most such windows are only a few further on.
GASMETER_INLINE void Partition::put_later(NodeId to, SimTime at, Action* what, std::uint64_t express) {
  constexpr int kFew = 4;
  if (GASMETER_UNLIKELY(at > kLastInstant)) at = checked_end(at);
  std::int64_t behind = at.ps - window_end_;
  Window window = window_ + 1;
  for (int further = 0; behind >= length_ && further != kFew; ++further, ++window) behind -= length_;
  if (GASMETER_UNLIKELY(behind >= length_)) {
    window += behind / length_;
    behind %= length_;
  }
  queue_.post(window, Posted::at(to, behind), what, express);
}

void Partition::put_elsewhere(NodeId to, SimTime at, Action* what, std::uint64_t express) {
  if (GASMETER_LIKELY(window_end_ != kClosed && owns(to))) return put_later(to, at, what, express);
  if (GASMETER_UNLIKELY(at > kLastInstant)) at = checked_end(at);
  if (length_ == 0) {
    throw UsageError("sim: an event is posted before the first run(), when windows have no length yet");
  }
  Partition& target = *nodes_[index(to)].partition;
  const Window window = at.ps / length_;
  const Posted entry{Posted::at(to, at.ps - window * length_), what, express};
  if (gathered_ != nullptr) {
    gathered_->push_back({at, tie_of(entry), entry});
    return;
  }
  if (&target == this || window_end_ == kClosed) {  // or nothing runs
    target.queue_.post(window, entry);
    return;
  }
  sent_[parity_][target.number_].entries.push_back({window, entry});
  sent_next_[parity_] = std::min(sent_next_[parity_], window);
}

void Partition::send_credit(NodeId to, std::uint32_t link, std::uint32_t channel, SimTime at) {
  if (window_end_ == kClosed) {
    wiring_->credit(link, channel, at);
    return;
  }
  sent_[parity_][nodes_[index(to)].partition->number_].credits.push_back({link, channel, at});
  // The receiving partition may wait for this window.
  sent_next_[parity_] = std::min(sent_next_[parity_], at.ps / length_);
}

GASMETER_NOINLINE bool Partition::is_before(const Posted& a, const Posted& b) const {
  return tie_of(a) < tie_of(b);
}

void Partition::post_turn(RankContext& rank, SimTime at) {
  if (at >= rank.turn) return;
  rank.turn = at;
  if (at >= rank.posted) return;  // the earlier posting will post the turn again
  rank.posted_behind = rank.posted;
  rank.posted = at;
  post(rank.node, at, turn_tie(rank.rank), rank.take_turn);
}

void Partition::on_turn(Action& self, SimTime now) {
  RankContext& rank = *static_cast<RankAction&>(self).rank;
  Partition& partition = *rank.partition;
  if (now == rank.posted) {
    rank.posted = rank.posted_behind;
    rank.posted_behind = kNever;
  }
  if (rank.turn == now) {
    partition.take_turn(rank, now);
  } else if (rank.turn < rank.posted) {
    const SimTime at = rank.turn;
    rank.turn = kNever;
    partition.post_turn(rank, at);
  }
}

void Partition::take_turn(RankContext& rank, SimTime at) {
  rank.turn = kNever;
  rank.clock = at;
  rank.state = RankState::running;
  ++counters_.switches;
  current = &rank;
  go_on(rank);
  rank.fibre->resume();
  while (GASMETER_UNLIKELY(step_ != nullptr)) {
    std::exchange(step_, nullptr)(step_argument_);
    rank.fibre->resume();
  }
  current = nullptr;
  limit_ = kNobody;
  latest = std::max(latest, now);
  if (!rank.fibre->finished()) return;
  rank.state = RankState::finished;
  rank.fibre.reset();
  end_body(rank);
}

void Partition::end_body(const RankContext& rank) {
  --live;
  const SimTime end{alone_ ? now.ps : behind_boundary(now.ps)};
  block_end_ = std::max(block_end_, end);
  if (--nodes_[index(rank.node)].live != 0) return;
  --live_nodes_;
  if (may_end_) held_from_ = end.ps;
}

void Partition::go_on(const RankContext& rank) {
  now = rank.clock;
  limit_ = window_end_;
  if (alone_) {
    if (GASMETER_UNLIKELY(now > kLastInstant)) (void)checked_end(now);
    limit_ = rank.clock.ps + kLongestRun;
  }
  if (cursor_ != cursor_end_) limit_ = std::min(limit_, time_of(*cursor_));
  if (!pending_.empty()) limit_ = std::min(limit_, pending_.front().at);
}

bool Partition::must_give_way(const RankContext& rank) const {
  if (!alone_ && rank.clock.ps >= window_end_) return true;
  const Pending turn{rank.clock.ps, turn_tie(rank.rank), nullptr};
  if (!pending_.empty() && pending_.front().before(turn)) return true;
  return cursor_ != cursor_end_ && is_before(*cursor_, turn);
}

bool Partition::stop_requested() const {
  return alone_ && stop_.requested();
}

void Partition::push_pending(const Pending& entry) {
  pending_.push(entry);
  limit_ = std::min(limit_, entry.at);
}

GASMETER_INLINE void Partition::fire(const Pending& event) {
  now = {event.at};
  now_tie = event.tie;
  if (!is_turn(event.tie)) {
    latest = now;
    if (!is_rank(event.tie)) ++counters_.events;
  }
  (*event.action)(now);
}

Partition::Window Partition::next_window() {
  return std::min(queue_.next(), sent_next_[parity_]);
}

// Put entries in order. The entries of one chunk are sorted in place, a few more are sorted as they are. Many are first
// dealt to buckets, several per node and 1.5 times as many as entries, in which little is left to sort.
GASMETER_INLINE std::span<Posted> Partition::in_order(const PostedList& list) {
  if (GASMETER_UNLIKELY(list.first->next != nullptr)) return sorted(list);
  few_ = list;
  Posted* const first = list.first->entries.data();
  Posted* const end = list.end;
  if (end - first == 2) {
    if (Earlier{this}(first[1], first[0])) std::swap(first[0], first[1]);
  } else if (end - first > 2) {
    std::sort(first, end, Earlier{this});
  }
  return {first, end};
}

GASMETER_NOINLINE std::span<Posted> Partition::sorted(const PostedList& list) {
  const Earlier earlier{this};
  const std::size_t count = list.size();
  if (count >= 64 && count * 8 >= nodes_.size()) return dealt(list, count);
  Posted* const row = row_.of(count);
  Posted* to = row;
  list.each_chunk([&to](const Posted* from, std::size_t of_chunk) { to = std::copy_n(from, of_chunk, to); });
  queue_.give(list);
  std::sort(row, to, earlier);
  return {row, count};
}

std::span<Posted> Partition::dealt(const PostedList& list, std::size_t count) {
  const auto bits = static_cast<unsigned>(std::bit_width(static_cast<std::uint64_t>(length_ - 1)));
  unsigned fine = 0;  // bits of the time in the window that choose the bucket
  while (nodes_.size() << (fine + 1) < count && fine < bits) ++fine;
  const auto bucket_of = [fine, coarse = bits - fine](const Posted& entry) {
    return (static_cast<std::size_t>(entry.node()) << fine) + static_cast<std::size_t>(entry.offset() >> coarse);
  };
  buckets_.assign(nodes_.size() << fine, 0);
  list.each_chunk([this, bucket_of](const Posted* entries, std::size_t of_chunk) {
    for (std::size_t i = 0; i < of_chunk; ++i) ++buckets_[bucket_of(entries[i])];
  });
  std::uint32_t before = 0;
  for (std::uint32_t& bucket : buckets_) before += std::exchange(bucket, before);
  Posted* const row = row_.of(count);
  list.each_chunk([this, bucket_of, row](const Posted* entries, std::size_t of_chunk) {
    for (std::size_t i = 0; i < of_chunk; ++i) row[buckets_[bucket_of(entries[i])]++] = entries[i];
  });
  queue_.give(list);  // for the next window: the memory just read is in the cache
  const Earlier earlier{this};
  for (std::size_t i = 1; i < count; ++i) {
    if (!earlier(row[i], row[i - 1])) continue;
    const Posted entry = row[i];
    std::size_t at = i;
    do {
      row[at] = row[at - 1];
    } while (--at != 0 && earlier(entry, row[at - 1]));
    row[at] = entry;
  }
  return {row, count};
}

void Partition::run_window(Window window) {
  const PostedList list = queue_.take(window);
  if (list.empty()) return;
  ++counters_.windows;
  const std::span<Posted> entries = in_order(list);
  window_ = window;
  window_end_ = (window + 1) * length_;
  // A body cannot come to its end where nothing happens.
  may_end_ = entries.size() >= live_nodes_;
  const Posted* const end = entries.data() + entries.size();
  fetch_end_ = end - std::min(entries.size(), kAhead);
  for (const Posted* first = entries.data(); first != end;) {
    const Posted* last = first + 1;
    while (last != end && last->node() == first->node()) ++last;
    run_node(first, last);
    first = last;
  }
  if (held_.empty()) close();
}

void Partition::close() {
  window_end_ = kClosed;
  queue_.give(std::exchange(few_, {}));
}

void Partition::run_node(const Posted* first, const Posted* last) {
  node_ = NodeId{first->node()};
  cursor_ = first;
  cursor_end_ = last;
  held_from_ = may_end_ && nodes_[index(node_)].live == 0 ? behind_boundary(window_end_ - length_) : kNever.ps;
  try {
    run_events();
    if (GASMETER_UNLIKELY(held_from_ != kNever.ps)) run_until(held_from_);
  } catch (...) {
    fail();
  }
  if (GASMETER_UNLIKELY(cursor_ != cursor_end_ || !pending_.empty())) {
    const std::span<const Pending> pending = pending_.all();
    held_.push_back({node_, cursor_, cursor_end_, {pending.begin(), pending.end()}});
    pending_.clear();
  }
  cursor_ = cursor_end_ = nullptr;
}

// Let the next entry happen. `until`: further express packets may be taken that are next before that.
GASMETER_INLINE void Partition::run_next(std::int64_t until) {
  if (GASMETER_LIKELY(cursor_->is_express())) return carry_(*wiring_, *this, {until});
  const Posted& next = *cursor_++;
  const Posted& ahead = soon(next);
  if (!ahead.is_express()) prefetch_read(ahead.action);
  fire({time_of(next), next.action->tie, next.action});
}

void Partition::happen(const Loose& loose) {
  node_ = NodeId{loose.entry.node()};
  try {
    if (!loose.entry.is_express()) return fire({loose.at.ps, loose.tie, loose.entry.action});
    now = latest = loose.at;
    ++counters_.events;
    wiring_->carry_one(*this, loose.entry);
  } catch (...) {
    fail();
  }
}

// Run until nothing is left, or no body of the node is live any more.
void Partition::run_events() {
  while (GASMETER_LIKELY(held_from_ == kNever.ps)) {
    if (entry_is_next()) {
      run_next(kNever.ps);
    } else if (!pending_.empty()) {
      fire(pending_.pop());
    } else {
      return;
    }
  }
}

Partition::Caught Partition::catch_up(RankContext& rank) {
  if (!alone_ && rank.clock.ps >= window_end_) return Caught::not_yet;
  const Pending turn{rank.clock.ps, turn_tie(rank.rank), nullptr};
  auto caught = Caught::never;
  current = nullptr;
  limit_ = kNobody;
  try {
    while (caught == Caught::never) {
      if (entry_is_next()) {
        if (!is_before(*cursor_, turn)) {
          caught = Caught::up;
        } else if (!cursor_->is_express() && is_turn(cursor_->action->tie)) {
          caught = Caught::not_yet;
        } else {
          run_next(turn.at);
        }
      } else if (pending_.empty() || !pending_.front().before(turn)) {
        caught = Caught::up;
      } else if (is_turn(pending_.front().tie)) {
        caught = Caught::not_yet;
      } else {
        fire(pending_.pop());
      }
    }
  } catch (...) {
    fail();
  }
  current = &rank;
  if (caught == Caught::up) go_on(rank);
  return caught;
}

void Partition::run_until(std::int64_t until) {
  while (true) {
    if (entry_is_next()) {
      if (time_of(*cursor_) >= until) return;
      run_next(until);
    } else if (!pending_.empty() && pending_.front().at < until) {
      fire(pending_.pop());
    } else {
      return;
    }
  }
}

// Keep the failure. The other nodes finish the window, so that the first failure in virtual time is the one reported.
void Partition::fail() {
  if (failure_.what == nullptr || now < failure_.at) failure_ = {std::current_exception(), now, node_};
  current = nullptr;
  limit_ = kNobody;
  pending_.clear();
  cursor_ = cursor_end_;
}

void Partition::go_on_until(SimTime until) {
  for (Held& held : held_) {
    node_ = held.node;
    cursor_ = held.first;
    cursor_end_ = held.last;
    for (const Pending& each : held.pending) pending_.push(each);
    try {
      run_until(until.ps);
    } catch (...) {
      fail();
    }
    const std::int64_t begin = window_end_ - length_;
    for (; cursor_ != cursor_end_; ++cursor_) queue_.post(window_, *cursor_);
    for (const Pending& each : pending_.all()) {
      each.action->tie = each.tie;
      queue_.post(window_, {Posted::at(node_, each.at - begin), each.action});
    }
    pending_.clear();
  }
  held_.clear();
  cursor_ = cursor_end_ = nullptr;
  close();
}

bool Partition::run_alone() {
  try {
    while (live != 0 && !pending_.empty() && !stop_.requested()) fire(pending_.pop());
  } catch (...) {
    failure_ = {std::current_exception(), now, NodeId{}};
    current = nullptr;
    limit_ = kNobody;
  }
  return !pending_.empty();
}

void Partition::receive_from(Partition& other, unsigned parity) {
  Sent& sent = other.sent_[parity][number_];
  for (const SentEntry& each : sent.entries) queue_.post(each.window, each.entry);
  for (const SentCredit& each : sent.credits) wiring_->credit(each.link, each.channel, each.at);
  sent.entries.clear();
  sent.credits.clear();
}

void Partition::turn_parity() {
  parity_ ^= 1U;
  sent_next_[parity_] = WindowQueue::kNone;
}

}  // namespace gasmeter::sim
