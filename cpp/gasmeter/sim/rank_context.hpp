// What the engine keeps of one rank.
#pragma once

#include <cstdint>
#include <memory>

#include "gasmeter/base/units.hpp"
#include "gasmeter/conduit/host.hpp"
#include "gasmeter/sim/fibre.hpp"

namespace gasmeter::sim {

class Engine;

enum class RankState : std::uint8_t {
  absent,    // no body
  ready,     // queued until its turn comes
  running,   // its fibre is the one that runs
  idle,      // waits for a wake or a deadline
  parked,    // waits for the next run()
  finished,  // its body has returned
};

struct RankContext {
  SimTime clock;  // local time; ahead of the engine's between two synchronisations
  const conduit::HostPrices* prices = nullptr;
  Engine* engine = nullptr;
  bool strict = false;
  bool woken = false;  // a wake came since the last idle() returned
  RankState state = RankState::absent;
  Rank rank{};
  NodeId node{};
  const char* waits_for = nullptr;  // what a deadlock report prints
  std::unique_ptr<Fibre> fibre;
};

}  // namespace gasmeter::sim
