// HyperTransport between a node and its card. Stores of all cores and writes of the card share one link in each
// direction.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "gasmeter/base/platform.hpp"
#include "gasmeter/base/units.hpp"
#include "gasmeter/networks/extoll/packet.hpp"
#include "gasmeter/networks/extoll/unit.hpp"
#include "gasmeter/sim/action.hpp"
#include "gasmeter/sim/engine/engine.hpp"
#include "gasmeter/sim/engine/steady.hpp"

namespace gasmeter::networks::extoll {

// One direction of the link. Its packets are small, so that all transfers in progress share it. The link passes one
// byte after the other and rests only when no transfer has bytes left.
class HostLink {
 public:
  explicit HostLink(std::int64_t per_byte_fs) : per_byte_fs_(per_byte_fs), longest_(time_of(kMaxRmaPayload)) {}

  // Pass bytes that are all present now, behind all others. Return when they have passed.
  SimTime begin(Bytes bytes, SimTime now) { return pass(now, time_of(bytes), now); }
  // Pass bytes that would have passed by now if they had the link to themselves, since another price includes their
  // time on it. Return when they have passed.
  SimTime end(Bytes bytes, SimTime now) {
    const SimTime time = time_of(bytes);
    return pass(now - time, time, now);
  }
  void walk(sim::StateWalk& walk) {
    forget(walk.now());
    for (Busy& busy : busy_) {
      walk.due(busy.begin);
      walk.due(busy.end);
    }
    walk.word(busy_.size());
  }

 private:
  struct Busy {
    SimTime begin;
    SimTime end;
  };
  static constexpr std::size_t kMany = 8;  // intervals that trigger forget()

  [[nodiscard]] SimTime time_of(Bytes bytes) const { return SimTime::of_bytes(per_byte_fs_, bytes); }

  // A transfer that began at `from` gets the time until now that others have left, and the rest behind them.
  GASMETER_INLINE SimTime pass(SimTime from, SimTime time, SimTime now) {
    if (time.ps == 0) return now;
    if (GASMETER_UNLIKELY(busy_.size() >= kMany)) forget(now);
    if (GASMETER_UNLIKELY(!busy_.empty() && busy_.back().end >= from)) return pass_behind(from, time, now);
    const SimTime end = from + time;
    busy_.push_back({from, end});
    return std::max(now, end);
  }
  GASMETER_NOINLINE SimTime pass_behind(SimTime from, SimTime time, SimTime now) {
    Busy all{from, now};
    SimTime left = now - from;
    for (; !busy_.empty() && busy_.back().end >= from; busy_.pop_back()) {
      const Busy& other = busy_.back();
      left = left - (std::min(other.end, now) - std::clamp(other.begin, from, now));
      all = {std::min(all.begin, other.begin), std::max(all.end, other.end)};
    }
    all.end += time - left;
    busy_.push_back(all);
    return left == time ? now : all.end;
  }
  // Forget intervals that ended longer ago than the largest packet takes: no call asks for them.
  GASMETER_NOINLINE void forget(SimTime now) {
    const SimTime since = now - longest_;
    const auto first = std::find_if(busy_.begin(), busy_.end(), [&](const Busy& busy) { return busy.end >= since; });
    busy_.erase(busy_.begin(), first);
    if (!busy_.empty()) busy_.front().begin = std::max(busy_.front().begin, since);
  }

  std::int64_t per_byte_fs_;
  SimTime longest_;         // time of the largest packet
  std::vector<Busy> busy_;  // recent busy intervals, in order, disjoint
};

// Packets that may have to wait for the link. Owner::*Out(packet, now) takes each, at once if it need not wait.
template <class Packet, class Owner, void (Owner::*Out)(Packet&, SimTime)>
class Passage {
 public:
  Passage(sim::Engine& engine, NodeId node, Owner& owner) : owner_(owner), late_(engine, node, owner) {}

  // The packet has passed the link at `due`. No packet overtakes another.
  void push(Packet& packet, SimTime due, SimTime now) {
    if (due <= now && late_.empty()) {
      (owner_.*Out)(packet, now);
    } else {
      late_.push(packet, due);
    }
  }
  [[nodiscard]] bool empty() const { return late_.empty(); }
  [[nodiscard]] const sim::Action& action() const { return late_.action(); }
  template <class Each>
  void walk(sim::StateWalk& walk, Each&& each) {
    late_.walk(walk, each);
  }

 private:
  Owner& owner_;
  Pipeline<Packet, Owner, Out> late_;
};

// The same for words that are not packets. Owner::*Out(word, now) takes each.
template <class Word, class Owner, void (Owner::*Out)(const Word&, SimTime)>
class WordPassage : private sim::Action {
 public:
  WordPassage(sim::Engine& engine, NodeId node, Owner& owner)
      : sim::Action(&WordPassage::on_due), engine_(engine), node_(node), owner_(owner) {}

  void push(const Word& word, SimTime due, SimTime now) {
    if (due <= now && waiting_.empty()) {
      (owner_.*Out)(word, now);
      return;
    }
    waiting_.push_back({due, word});
    if (waiting_.size() - first_ == 1) engine_.post(node_, node_, due, *this);
  }

 private:
  struct Waiting {
    SimTime due;
    Word word;
  };

  static void on_due(sim::Action& action, SimTime now) {
    auto& self = static_cast<WordPassage&>(action);
    const Word word = self.waiting_[self.first_].word;
    if (++self.first_ == self.waiting_.size()) {
      self.waiting_.clear();
      self.first_ = 0;
    } else {
      self.engine_.post(self.node_, self.node_, self.waiting_[self.first_].due, self);
    }
    (self.owner_.*Out)(word, now);
  }

  sim::Engine& engine_;
  NodeId node_;
  Owner& owner_;
  std::vector<Waiting> waiting_;  // from first_ on
  std::size_t first_ = 0;
};

}  // namespace gasmeter::networks::extoll
