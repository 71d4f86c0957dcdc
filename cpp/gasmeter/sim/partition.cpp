#include "gasmeter/sim/partition.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "gasmeter/base/error.hpp"
#include "gasmeter/sim/stop_token.hpp"

namespace gasmeter::sim {
namespace {

constexpr std::int64_t kLongestRun = std::int64_t{1}
                                     << 25;  // ps that a lone node's rank goes on without a look at the stop token

constexpr std::size_t kAhead = 4;  // entries whose actions are fetched before their turn

bool earlier(const Posted& a, const Posted& b) {
  return a.place != b.place ? a.place < b.place : a.tie < b.tie;
}

}  // namespace

RankContext::RankContext() : take_turn(&Partition::on_turn, this), wake([](Action&, SimTime) {}, this) {}

Partition::Partition(unsigned number, unsigned partitions, std::vector<Node>& nodes, const StopToken& stop)
    : alone_(nodes.size() == 1), number_(number), nodes_(nodes), stop_(stop) {
  if (alone_) {
    window_ = 0;
    shift_ = kAloneShift;
  }
  for (auto& sent : sent_) sent.resize(partitions);
}

void Partition::post_elsewhere(Partition& target, NodeId to, SimTime at, Tie tie, Action& action) {
  if (!has_windows_ && !alone_) {
    throw UsageError("sim: an event is posted before the first run(), when windows have no length yet");
  }
  const Window window = at.ps >> shift_;
  const Posted entry{Posted::at(to, at.ps & ((std::int64_t{1} << shift_) - 1)), tie, &action};
  if (window_ == kClosed) {  // between runs
    target.queue_.post(window, entry);
    return;
  }
  if (at - now < lookahead_) {
    throw UsageError("sim: node " + std::to_string(index(node_)) + " reaches node " + std::to_string(index(to)) +
                     " within " + std::to_string((at - now).ps) + " ps; the network promised no less than " +
                     std::to_string(lookahead_.ps));
  }
  sent_[parity_][target.number_].push_back({window, entry});
  sent_next_[parity_] = std::min(sent_next_[parity_], window);
}

void Partition::post_turn(RankContext& rank, SimTime at) {
  if (at >= rank.turn) return;
  rank.turn = at;
  if (at >= rank.posted) return;  // that one will see to it
  rank.posted_behind = rank.posted;
  rank.posted = at;
  post(rank.node, at, rank_tie(rank.rank), rank.take_turn);
}

void Partition::on_turn(Action& self, SimTime now) {
  RankContext& rank = *static_cast<RankAction&>(self).rank;
  Partition& here = *rank.partition;
  if (now == rank.posted) {
    rank.posted = rank.posted_behind;
    rank.posted_behind = kNever;
  }
  if (rank.turn == now) {
    here.take_turn(rank, now);
  } else if (rank.turn < rank.posted) {
    const SimTime at = rank.turn;
    rank.turn = kNever;
    here.post_turn(rank, at);
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
  current = nullptr;
  limit_ = kNobody;
  latest = std::max(latest, now);
  if (!rank.fibre->finished()) return;
  rank.state = RankState::finished;
  rank.fibre.reset();
  --live;
}

void Partition::go_on(const RankContext& rank) {
  now = rank.clock;
  limit_ = alone_ ? rank.clock.ps + kLongestRun : window_end_;
  if (cursor_ != cursor_end_) limit_ = std::min(limit_, (window_ << shift_) + cursor_->offset());
  if (!pending_.empty()) limit_ = std::min(limit_, pending_.front().at);
}

bool Partition::must_give_way(const RankContext& rank) const {
  if (!alone_ && rank.clock.ps >= window_end_) return true;
  const Pending own{rank.clock.ps, rank_tie(rank.rank), nullptr};
  if (!pending_.empty() && pending_.front().before(own)) return true;
  return cursor_ != cursor_end_ && Pending{(window_ << shift_) + cursor_->offset(), cursor_->tie, nullptr}.before(own);
}

bool Partition::stop_requested() const {
  return alone_ && stop_.requested();
}

void Partition::push_pending(const Pending& entry) {
  pending_.push_back(entry);
  std::push_heap(pending_.begin(), pending_.end(), later);
  limit_ = std::min(limit_, entry.at);
}

Partition::Pending Partition::pop_pending() {
  std::pop_heap(pending_.begin(), pending_.end(), later);
  const Pending first = pending_.back();
  pending_.pop_back();
  return first;
}

GASMETER_INLINE void Partition::fire(const Pending& event) {
  now = {event.at};
  now_tie = event.tie;
  if ((event.tie >> 63U) == 0) {
    latest = now;
    ++counters_.events;
  }
  (*event.action)(now);
}

Partition::Window Partition::next_window() const {
  return std::min(queue_.next(), sent_next_[parity_]);
}

// Few entries are sorted as they are; many are first dealt to their nodes.
void Partition::sort(std::vector<Posted>& entries) {
  const std::size_t count = entries.size();
  if (count == 2) {
    if (earlier(entries[1], entries[0])) std::swap(entries[0], entries[1]);
    return;
  }
  if (count < 64 || count * 8 < nodes_.size()) {
    std::sort(entries.begin(), entries.end(), earlier);
    return;
  }
  counts_.assign(nodes_.size() + 1, 0);
  for (const Posted& entry : entries) ++counts_[entry.node() + 1];
  for (std::size_t node = 1; node < counts_.size(); ++node) counts_[node] += counts_[node - 1];
  sorted_.resize(count);
  for (const Posted& entry : entries) sorted_[counts_[entry.node()]++] = entry;
  entries.swap(sorted_);
  for (std::size_t first = 0; first < count;) {
    std::size_t last = first + 1;
    while (last < count && entries[last].node() == entries[first].node()) {
      const Posted entry = entries[last];
      std::size_t at = last;
      for (; at != first && earlier(entry, entries[at - 1]); --at) entries[at] = entries[at - 1];
      entries[at] = entry;
      ++last;
    }
    first = last;
  }
}

void Partition::run_window(Window window) {
  queue_.take(window, entries_);
  if (entries_.empty()) return;
  ++counters_.windows;
  if (entries_.size() > 1) sort(entries_);
  const std::size_t count = entries_.size();
  entries_.resize(count + kAhead, entries_.back());  // to be fetched, not to happen
  window_ = window;
  window_end_ = (window + 1) << shift_;
  const Posted* const end = entries_.data() + count;
  for (const Posted* first = entries_.data(); first != end;) {
    const Posted* last = first + 1;
    while (last != end && last->node() == first->node()) ++last;
    run_node(first, last);
    first = last;
  }
  window_ = kClosed;
  entries_.clear();
}

void Partition::run_node(const Posted* first, const Posted* last) {
  node_ = NodeId{first->node()};
  cursor_ = first;
  cursor_end_ = last;
  const std::int64_t start = window_ << shift_;
  try {
    while (true) {
      if (cursor_ != cursor_end_) {
        const Pending next{start + cursor_->offset(), cursor_->tie, cursor_->action};
        if (pending_.empty() || next.before(pending_.front())) {
          ++cursor_;
          // What happens next is in memory that nobody has touched for a while.
          prefetch_read(cursor_[kAhead - 1].action);
          fire(next);
          continue;
        }
      } else if (pending_.empty()) {
        break;
      }
      fire(pop_pending());
    }
  } catch (...) {
    // The other nodes finish the window, so that the first failure in virtual time is the one that is told.
    if (failure_.what == nullptr || now < failure_.at) failure_ = {std::current_exception(), now, node_};
    current = nullptr;
    limit_ = kNobody;
    pending_.clear();
  }
  cursor_ = cursor_end_ = nullptr;
}

bool Partition::run_alone() {
  try {
    while (live != 0 && !pending_.empty() && !stop_.requested()) fire(pop_pending());
  } catch (...) {
    failure_ = {std::current_exception(), now, NodeId{}};
    current = nullptr;
    limit_ = kNobody;
  }
  return !pending_.empty();
}

void Partition::receive_from(Partition& other, unsigned parity) {
  std::vector<Sent>& sent = other.sent_[parity][number_];
  for (const Sent& each : sent) queue_.post(each.window, each.entry);
  sent.clear();
}

void Partition::turn_parity() {
  parity_ ^= 1U;
  sent_next_[parity_] = WindowQueue::kNone;
}

}  // namespace gasmeter::sim
