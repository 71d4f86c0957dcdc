// Time that a network takes from a rank's core beside what the rank itself does: stalls, interrupts, work that messages
// cut, and what it adds to every poll that finds nothing.
#pragma once

#include <vector>

#include "gasmeter/base/units.hpp"
#include "gasmeter/sim/action.hpp"

namespace gasmeter::sim {

// What the engine keeps of a rank of which time is taken; others have none.
struct TakenTime {
  struct Interrupt {
    SimTime cost;
    Action* handled;
  };
  bool takes_interrupts = false;
  SimTime poll_price;            // of a poll that finds nothing, beside the host's price for one
  SimTime busy_until;            // when the core is done with what has interrupted it
  SimTime taken;                 // by interrupts, ever
  SimTime taken_in_wait;         // of that, since the wait that goes on began
  SimTime sought = kNever;       // in a wait: the instant whose first poll ends it
  SimTime released = kNever;     // of a stall: when it ends; it may be known before the stall begins
  SimTime end;                   // of work: when all of it is done
  bool cut = false;              // messages cut the work that goes on
  std::vector<Interrupt> later;  // came while the core stalled
};

}  // namespace gasmeter::sim
