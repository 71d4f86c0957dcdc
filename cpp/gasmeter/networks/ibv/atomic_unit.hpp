// The unit of an adapter that does atomics on its host's memory: one at a time, whichever queue pairs ask.
//
// Each reads its word and writes it, changed or not; the next one begins when the word has been written.
#pragma once

#include <deque>

#include "gasmeter/base/units.hpp"
#include "gasmeter/sim/action.hpp"

namespace gasmeter::networks::ibv {

class IbvHca;
class QueuePair;

class AtomicUnit : private sim::Action {
 public:
  explicit AtomicUnit(IbvHca& hca) : sim::Action(&AtomicUnit::on_read), hca_(hca) {}
  AtomicUnit(const AtomicUnit&) = delete;
  AtomicUnit& operator=(const AtomicUnit&) = delete;

  // That of `pair` whose turn it is, from `ready` on; QueuePair::do_atomic() is called when it is done.
  void add(QueuePair& pair, SimTime ready);

 private:
  struct Waiting {
    QueuePair* pair;
    SimTime ready;
  };

  static void on_read(sim::Action& self, SimTime now);
  static void on_written(sim::Action& self, SimTime now);
  void begin(SimTime now);

  IbvHca& hca_;
  std::deque<Waiting> waiting_;  // the first one is being done
};

}  // namespace gasmeter::networks::ibv
