// Unit of a card that does atomic operations on its host's memory for all ranks, one at a time, in the order of their
// arrival.
//
// Without a cache of words, each operation reads its word and writes it back, changed or not. The next operation
// begins when the word has been written. With a cache, words are fetched as operations arrive, and an operation on a
// cached word takes only the unit's time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>

#include "gasmeter/base/units.hpp"
#include "gasmeter/services/word_cache.hpp"
#include "gasmeter/sim/action.hpp"
#include "gasmeter/sim/engine/engine.hpp"

namespace gasmeter::services {

// Requirements on Card: engine() and node(). read_word(from) returns when a word requested at `from` is in the card.
// write_word(from) returns when a word that leaves at `from` is in host memory. atomic_done(work, now) does `work`
// now.
template <class Card, class Work>
class AtomicUnit : private sim::Action {
 public:
  // `time` is the time of an operation on a cached word, `words` the size of the cache (0: no cache).
  explicit AtomicUnit(Card& card, SimTime time = {}, unsigned words = 0)
      : sim::Action(&AtomicUnit::on_read), card_(card), time_(time), cache_(words) {}
  AtomicUnit(const AtomicUnit&) = delete;
  AtomicUnit& operator=(const AtomicUnit&) = delete;

  // Queue `work` on `word`. The operation has arrived at `ready`.
  void add(Work& work, const std::byte* word, SimTime ready) {
    if (cache_.exists()) {
      const SimTime cached = cache_.ready(
          word, ready, [&](SimTime from) { return card_.read_word(from); },
          [&](SimTime from) { (void)card_.write_word(from); });
      free_ = std::max(cached, free_) + time_;
      cache_.hold(free_);
      ready = free_;
    }
    waiting_.push_back({&work, ready});
    if (waiting_.size() == 1) begin(ready);
  }

 private:
  struct Waiting {
    Work* work;
    SimTime at;  // with a cache: end of the operation
  };

  static void on_read(sim::Action& self, SimTime now) {
    auto& unit = static_cast<AtomicUnit&>(self);
    unit.post(unit.card_.write_word(now), &AtomicUnit::on_done);
  }
  static void on_done(sim::Action& self, SimTime now) {
    auto& unit = static_cast<AtomicUnit&>(self);
    Work& work = *unit.waiting_.front().work;
    unit.waiting_.pop_front();
    if (!unit.waiting_.empty()) unit.begin(now);
    unit.card_.atomic_done(work, now);
  }
  // Begin the first operation. Without a cache, the link to host memory is used in one direction after the other, and
  // only when the operation's turn has come. Other traffic on the link therefore does not wait for an atomic that does
  // not use the link yet.
  void begin(SimTime now) {
    const SimTime at = waiting_.front().at;
    if (cache_.exists()) {
      post(at, &AtomicUnit::on_done);
    } else {
      post(card_.read_word(std::max(now, at)), &AtomicUnit::on_read);
    }
  }
  void post(SimTime at, sim::Action::Run run) {
    becomes(run);
    card_.engine().post(card_.node(), card_.node(), at, *this);
  }

  Card& card_;
  SimTime time_;
  WordCache cache_;
  SimTime free_;                 // with a cache: all operations that have arrived are done then
  std::deque<Waiting> waiting_;  // the first is in progress
};

}  // namespace gasmeter::services
