// The relation between the clocks of two ranks, from messages that they exchange.
//
// An exchange is a message to the peer, which looks at its clock and answers. The peer's look lies between sending and
// receiving. The middle of the round trip is wrong by at most half of it, and by half of the difference between the two
// ways: no exchange shows which way is longer. A delay of a message makes the round trip longer, so that the exchange
// of the shortest round trip says most (the clock filter of Mills' NTP; Jones and Koenig, Hunold and Carpen-Amarie also
// take many exchanges). Clocks drift apart at an even rate: an exchange before the measurement and one behind it give a
// line, whose error in between is at most that of the worse exchange.
#pragma once

#include <algorithm>
#include <cstdint>

#include "gasmeter/base/units.hpp"

namespace gasmeter::kernels {

struct ClockExchange {
  SimTime sent;      // by this rank's clock
  SimTime theirs;    // by the peer's clock
  SimTime received;  // by this rank's clock

  [[nodiscard]] constexpr SimTime round_trip() const { return received - sent; }
  [[nodiscard]] constexpr SimTime middle() const { return {sent.ps + round_trip().ps / 2}; }
};

// Return the exchange of the shortest round trip; among equal ones the first.
template <class Exchange>
[[nodiscard]] ClockExchange shortest_of(std::uint64_t count, Exchange exchange) {
  ClockExchange shortest = exchange();
  for (std::uint64_t i = 1; i < count; ++i) {
    const ClockExchange next = exchange();
    if (next.round_trip() < shortest.round_trip()) shortest = next;
  }
  return shortest;
}

// The peer's clock by this rank's clock: offset and drift.
class ClockLine {
 public:
  // Makes the line of two ranks that read one clock.
  constexpr ClockLine() = default;
  // `after` lies behind `before`. If the peer's clock has not advanced in between, only the offset is known.
  ClockLine(const ClockExchange& before, const ClockExchange& after)
      : own_(before.middle()), theirs_(before.theirs), bound_{(longer(before, after).ps + 1) / 2} {
    const auto gone = static_cast<double>((after.theirs - before.theirs).ps);
    if (gone > 0) drift_ = (static_cast<double>((after.middle() - before.middle()).ps) - gone) / gone;
  }

  // Return the picoseconds of this rank's clock from `since` to when the peer's clock said `theirs`, plus `later_ps`.
  [[nodiscard]] double ps_between(SimTime since, SimTime theirs, double later_ps = 0) const {
    const double gone = static_cast<double>((theirs - theirs_).ps) + later_ps;
    return static_cast<double>((own_ - since + (theirs - theirs_)).ps) + later_ps + gone * drift_;
  }
  // Return how far a time between both exchanges may be off; 0 for one clock.
  [[nodiscard]] SimTime bound() const { return bound_; }
  // Return the drift of this rank's clock, as a share of the time that the peer's clock has advanced.
  [[nodiscard]] double drift() const { return drift_; }

 private:
  [[nodiscard]] static SimTime longer(const ClockExchange& first, const ClockExchange& other) {
    return std::max(first.round_trip(), other.round_trip());
  }

  SimTime own_;
  SimTime theirs_;
  SimTime bound_;
  double drift_ = 0;
};

// The mean of many times, to the picosecond. Only differences from the first time are summed, since a sum of times
// would not fit 64 bits.
class MeanTime {
 public:
  void add(SimTime time) {
    if (count_++ == 0) first_ = time;
    sum_ += (time - first_).ps;
  }
  [[nodiscard]] SimTime first() const { return first_; }
  [[nodiscard]] double later_ps() const {  // beyond the first
    return count_ == 0 ? 0 : static_cast<double>(sum_) / static_cast<double>(count_);
  }

 private:
  __extension__ using Sum = __int128;

  SimTime first_;
  Sum sum_ = 0;
  std::uint64_t count_ = 0;
};

}  // namespace gasmeter::kernels
