// State that the engine keeps of one rank.
#pragma once

#include <cstdint>
#include <memory>

#include "gasmeter/base/platform.hpp"
#include "gasmeter/base/units.hpp"
#include "gasmeter/conduit/charges.hpp"
#include "gasmeter/conduit/host.hpp"
#include "gasmeter/sim/action.hpp"
#include "gasmeter/sim/fibres/fibre.hpp"

namespace gasmeter::sim {

class Partition;
struct RankContext;

enum class RankState : std::uint8_t {
  absent,    // no body
  ready,     // waits for its posted turn
  running,   // runs on its fibre
  idle,      // waits for a wake or a deadline
  stalled,   // a store or load stops its core until a device resumes the rank
  working,   // computes until an instant; interrupts move that instant
  parked,    // waits for the next run()
  finished,  // has no body any more
};

struct RankAction : Action {
  RankAction(Run run, RankContext* of) : Action(run), rank(of) {}
  RankContext* rank;
};

struct alignas(kCacheLine) RankContext {
  RankContext();
  RankContext(const RankContext&) = delete;
  RankContext& operator=(const RankContext&) = delete;

  SimTime clock;  // local time; ahead of its node's between two synchronisations
  Partition* partition = nullptr;
  SimTime turn = kNever;           // when the rank goes on; an earlier or later posting of its turn is void
  SimTime posted = kNever;         // the earliest posting of its turn
  SimTime posted_behind = kNever;  // a posting behind it, so that a far deadline is not posted again after every wake
  std::unique_ptr<Fibre> fibre;
  Rank rank{};
  NodeId node{};
  RankState state = RankState::absent;
  bool woken : 1 = false;     // a wake came since the last idle() returned
  bool left_out : 1 = false;  // a poll was left out, in front of the next idle()
  bool careful = false;       // strict, traced or on a slow node: prices take the long way
  bool loses_time = false;    // the engine keeps a TakenTime for it
  conduit::Charges charges;   // all prices charged so far
  // The second cache line begins here.
  RankAction take_turn;
  const conduit::HostPrices* prices = nullptr;
  RankAction wake;
  SimTime idled;  // time in idle() so far
};
static_assert(sizeof(RankContext) <= 2 * kCacheLine);

}  // namespace gasmeter::sim
