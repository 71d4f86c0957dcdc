// The unit of a card that does atomic operations on its host's memory, one at a time and in the order in which they
// come, whoever asks for them.
//
// Without a cache of words each operation reads its word and writes it, changed or not, and the next one begins when it
// has been written. With one, words are fetched as operations come, and an operation on a word that is there takes the
// unit's time alone.
#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>

#include "gasmeter/base/units.hpp"
#include "gasmeter/services/word_cache.hpp"
#include "gasmeter/sim/action.hpp"
#include "gasmeter/sim/engine.hpp"

namespace gasmeter::services {

// A card has engine() and node(); read_word(from) and write_word(from): when a word that is asked for then is in the
// card, when one that goes then is in host memory; atomic_done(work, now): `work` is to be done now.
template <class Card, class Work>
class AtomicUnit : private sim::Action {
 public:
  // `time`: of an operation on a word of the cache of so many; with 0 words there is none.
  explicit AtomicUnit(Card& card, SimTime time = {}, unsigned words = 0)
      : sim::Action(&AtomicUnit::on_read), card_(card), time_(time), cache_(words) {}
  AtomicUnit(const AtomicUnit&) = delete;
  AtomicUnit& operator=(const AtomicUnit&) = delete;

  // That of `work` on `word`, which is here at `ready`.
  void add(Work& work, const std::byte* word, SimTime ready) {
    if (cache_.exists()) {
      const SimTime there = cache_.ready(
          word, ready, [&](SimTime from) { return card_.read_word(from); },
          [&](SimTime from) { (void)card_.write_word(from); });
      free_ = std::max(there, free_) + time_;
      cache_.hold(free_);
      ready = free_;
    }
    waiting_.push_back({&work, ready});
    if (waiting_.size() == 1) begin(ready);
  }

 private:
  struct Waiting {
    Work* work;
    SimTime at;  // with a cache: it is done
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
  // Without a cache the link to host memory is asked for one direction after the other, when its turn has come: what
  // else goes over it meanwhile does not wait for an atomic that does not use it yet.
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
  SimTime free_;                 // with a cache: all that has come is done
  std::deque<Waiting> waiting_;  // the first one is being done
};

}  // namespace gasmeter::services
