// What happens at an instant of virtual time, and the order of what happens at the same one.
#pragma once

#include <cstdint>

#include "gasmeter/base/units.hpp"

namespace gasmeter::sim {

// Equal instants on one node: device events before ranks; events by the node that posted them, then in the order of its
// posting; ranks by number, what a rank has posted for its own clock before its turn. Nothing of it depends on how far
// ranks run ahead, on windows or on threads.
using Tie = std::uint64_t;

// Base of whatever is posted: a packet, a timer, a rank's turn. Must stay alive until it has happened.
class Action {
 public:
  using Run = void (*)(Action& self, SimTime now);
  explicit constexpr Action(Run run) : run_(run) {}

  void operator()(SimTime now) { run_(*this, now); }
  // What the next posting of this object does.
  void becomes(Run run) { run_ = run; }
  [[nodiscard]] Run is() const { return run_; }

 private:
  Run run_;

 public:
  union {
    // While it is posted: of its last posting. Whoever posts one object twice sees to it that only one of them counts.
    Tie tie = 0;
    // While it is not: in a list of whoever has it.
    Action* next;
  };
};

inline constexpr unsigned kSequenceBits = 40;
inline constexpr std::uint32_t kMostNodes = 1U << 22U;
inline constexpr std::uint32_t kMostRanks = 1U << 22U;

[[nodiscard]] constexpr Tie event_tie(NodeId poster, std::uint64_t sequence) {
  return (static_cast<Tie>(index(poster)) << kSequenceBits) | sequence;
}
// Of what comes express: as if the link's beginning had posted it first of all, behind what that has posted in the
// place of all others (number 0).
[[nodiscard]] constexpr Tie express_tie(NodeId from) {
  return event_tie(from, 1);
}
// Of what a rank has posted for its own clock, as the node's event number `sequence`.
[[nodiscard]] constexpr Tie own_tie(Rank rank, std::uint64_t sequence) {
  return (Tie{1} << 63U) | (static_cast<Tie>(index(rank)) << (kSequenceBits + 1)) | (sequence << 1U);
}
// Of its turn: behind all of those.
[[nodiscard]] constexpr Tie turn_tie(Rank rank) {
  return own_tie(rank, (Tie{1} << kSequenceBits) - 1) | 1U;
}
// Whether it is a rank's doing.
[[nodiscard]] constexpr bool is_rank(Tie tie) {
  return (tie >> 63U) != 0;
}
[[nodiscard]] constexpr bool is_turn(Tie tie) {
  return is_rank(tie) && (tie & 1U) != 0;
}

}  // namespace gasmeter::sim
