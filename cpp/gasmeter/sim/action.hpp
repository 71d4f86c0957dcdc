// Events of virtual time (`Action`), and the order of events at equal instants (`Tie`).
#pragma once

#include <cstdint>

#include "gasmeter/base/units.hpp"

namespace gasmeter::sim {

// Order of equal instants on one node: device events come before ranks. Events are ordered by the node that posted
// them, then in the order of its posting. Ranks are ordered by number; what a rank has posted for its own clock comes
// before its turn. The order depends neither on how far ranks run ahead, nor on windows, nor on threads.
using Tie = std::uint64_t;

// Base of everything that is posted: a packet, a timer, a rank's turn. An action must stay alive until it has happened.
class Action {
 public:
  using Run = void (*)(Action& self, SimTime now);
  explicit constexpr Action(Run run) : run_(run) {}

  void operator()(SimTime now) { run_(*this, now); }
  // Set what the next posting of this object does.
  void becomes(Run run) { run_ = run; }
  [[nodiscard]] Run is() const { return run_; }

 private:
  Run run_;

 public:
  union {
    // While the action is posted: tie of its last posting. Whoever posts one object twice ensures that only one posting
    // counts.
    Tie tie = 0;
    // While the action is not posted: link of a list that its owner keeps.
    Action* next;
  };
};

inline constexpr unsigned kSequenceBits = 40;
inline constexpr std::uint32_t kMostNodes = 1U << 22U;
inline constexpr std::uint32_t kMostRanks = 1U << 22U;

[[nodiscard]] constexpr Tie event_tie(NodeId poster, std::uint64_t sequence) {
  return (static_cast<Tie>(index(poster)) << kSequenceBits) | sequence;
}
// Tie of an express packet: it counts as the first posting of the link's beginning, behind the events that this node
// has posted in the place of all others (number 0).
[[nodiscard]] constexpr Tie express_tie(NodeId from) {
  return event_tie(from, 1);
}
// Tie of an event that a rank has posted for its own clock, as the node's event number `sequence`.
[[nodiscard]] constexpr Tie own_tie(Rank rank, std::uint64_t sequence) {
  return (Tie{1} << 63U) | (static_cast<Tie>(index(rank)) << (kSequenceBits + 1)) | (sequence << 1U);
}
// Tie of a rank's turn: behind all events that the rank has posted for its own clock.
[[nodiscard]] constexpr Tie turn_tie(Rank rank) {
  return own_tie(rank, (Tie{1} << kSequenceBits) - 1) | 1U;
}
// Tell whether the event belongs to a rank.
[[nodiscard]] constexpr bool is_rank(Tie tie) {
  return (tie >> 63U) != 0;
}
[[nodiscard]] constexpr bool is_turn(Tie tie) {
  return is_rank(tie) && (tie & 1U) != 0;
}

}  // namespace gasmeter::sim
