#include "gasmeter/sim/engine/fast_forward.hpp"

#include <algorithm>

namespace gasmeter::sim {
namespace {

constexpr Tie kNumbers = (Tie{1} << kSequenceBits) - 1;

}  // namespace

bool FastForward::run() {
  if (++windows_ < patience_) return false;
  windows_ = 0;
  if (!traffic_->begin()) {
    if (patience_ < kShortPatience) patience_ *= 2;
    return false;
  }
  patience_ = std::min(2 * patience_, kLongestPatience);
  const bool alone = is_alone();
  bool happened = false;
  if (alone) {
    for (Partition& partition : partitions_) {
      partition.sift([&](const Partition::Loose& loose) {
        if (!traffic_->is_part(loose.entry)) return Partition::Sift::keep;
        loose_.push_back(loose);
        return Partition::Sift::take;
      });
      partition.gather(&posted_);
    }
    std::make_heap(loose_.begin(), loose_.end(), Later{});
    happened = let_happen();
    put_back();
  }
  traffic_->end();
  return happened;
}

// Tell whether nothing else is to happen for long enough.
bool FastForward::is_alone() {
  others_from_ = kNever;
  SimTime first = kNever;
  for (Partition& partition : partitions_) first = std::min(first, partition.posted_from());
  std::size_t entries = 0;
  for (Partition& partition : partitions_) {
    partition.sift([&](const Partition::Loose& loose) {
      if (traffic_->is_part(loose.entry)) {
        ++entries;
        return Partition::Sift::keep;
      }
      others_from_ = std::min(others_from_, loose.at);
      return others_from_ - first < traffic_->worthwhile() ? Partition::Sift::stop : Partition::Sift::keep;
    });
  }
  return entries != 0 && entries <= kMostEntries && others_from_ - first >= traffic_->worthwhile();
}

bool FastForward::let_happen() {
  bool happened = false;
  beats_ = 0;
  while (!loose_.empty() && loose_.front().at < others_from_) {
    if (traffic_->is_beat(loose_.front().entry)) {
      if (has_come_round()) {
        patience_ = 1;
        return true;
      }
      if (++beats_ == kMostBeats) break;
    }
    fire();
    happened = true;
    if (nodes_[loose_now_].partition->failure().what != nullptr) break;
    take_posted();
  }
  return happened;
}

// Compare the state with the states of the last beats; move it on where they are the same.
bool FastForward::has_come_round() {
  std::sort(loose_.begin(), loose_.end(), before);  // sorted, the vector stays a heap
  StateWalk::Record& now = records_[beats_ % records_.size()];
  StateWalk recorder(loose_.front().at, now);
  walk(recorder);
  if (!now.complete) return false;
  for (std::size_t back = 1; back <= std::min(beats_, kLongestPeriod); ++back) {
    const StateWalk::Record& then = records_[(beats_ - back) % records_.size()];
    if (!then.complete || then.now == now.now || then.words != now.words) continue;
    const auto time_left = static_cast<std::uint64_t>((others_from_ - now.now).ps - 1);
    const auto period = static_cast<std::uint64_t>((now.now - then.now).ps);
    const std::uint64_t periods = std::min(StateWalk::most_periods(then, now, recorder.limits()), time_left / period);
    if (periods == 0) return false;
    StateWalk mover(then, now, periods);
    walk(mover);
    traffic_->moved();
    return true;
  }
  return false;
}

// Visit the state. Posted events keep their order among their poster's earlier and later events.
void FastForward::walk(StateWalk& walk) {
  numbers_.clear();
  walk.word(loose_.size());
  walk.word(others_.size());  // a skipped period must give others nothing to do
  for (Partition::Loose& loose : loose_) {
    walk.word(loose.entry.node());
    walk.due(loose.at);
    walk.word(loose.entry.express);
    if (loose.entry.is_express()) walk.word(loose.entry.bytes());
    const auto poster = static_cast<std::uint32_t>(loose.tie >> kSequenceBits);
    const Tie number = loose.tie & kNumbers;
    walk.word(poster);
    if (number < kFirstPosted) {
      walk.word(number);
    } else {
      const std::uint64_t before = nodes_[poster].posted;
      std::uint64_t next = before;
      walk.word(before - number);
      walk.counter(next);
      if (walk.is_moving()) {
        const Tie tie = loose.tie + (next - before);
        if (!loose.entry.is_express() && loose.entry.action->tie == loose.tie) loose.entry.action->tie = tie;
        loose.tie = tie;
        numbers_.emplace_back(poster, next);
      }
    }
    traffic_->walk(loose.entry, walk);
  }
  for (const auto& [poster, next] : numbers_) nodes_[poster].posted = next;
  traffic_->walk(walk);
}

void FastForward::fire() {
  std::pop_heap(loose_.begin(), loose_.end(), Later{});
  const Partition::Loose next = loose_.back();
  loose_.pop_back();
  loose_now_ = next.entry.node();
  nodes_[loose_now_].partition->happen(next);
}

void FastForward::take_posted() {
  for (const Partition::Loose& loose : posted_) {
    if (traffic_->is_part(loose.entry)) {
      loose_.push_back(loose);
      std::push_heap(loose_.begin(), loose_.end(), Later{});
    } else {
      others_.push_back(loose);
      others_from_ = std::min(others_from_, loose.at);
    }
  }
  posted_.clear();
}

void FastForward::put_back() {
  take_posted();
  for (Partition& partition : partitions_) partition.gather(nullptr);
  for (std::vector<Partition::Loose>* const all : {&loose_, &others_}) {
    for (const Partition::Loose& loose : *all) nodes_[loose.entry.node()].partition->put(loose);
    all->clear();
  }
}

}  // namespace gasmeter::sim
