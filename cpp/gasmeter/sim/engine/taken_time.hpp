// Time that a network takes from a rank's core beside the rank's own work: stalls, interrupts, work that messages cut
// short, and a further price of every poll that finds nothing.
#pragma once

#include <vector>

#include "gasmeter/base/units.hpp"
#include "gasmeter/sim/action.hpp"

namespace gasmeter::sim {

// State that the engine keeps of a rank from which time can be taken; other ranks have none.
struct TakenTime {
  struct Interrupt {
    SimTime cost;
    Action* handled;
  };
  bool takes_interrupts = false;
  SimTime poll_price;            // further price of a poll that finds nothing, beside the host's
  SimTime busy_until;            // when the core is done with all interrupts
  SimTime taken;                 // time that interrupts have taken so far
  SimTime taken_in_wait;         // part of `taken` since the current wait began
  SimTime sought = kNever;       // in a wait: the first poll at or after this instant ends the wait
  SimTime released = kNever;     // when the stall ends; may be known before it begins
  SimTime end;                   // when all of the work is done
  bool cut = false;              // messages cut the current work short
  std::vector<Interrupt> later;  // interrupts that came while the core stalled
};

}  // namespace gasmeter::sim
