// How the clocks of two ranks belong together, from messages that they exchange.
//
// An exchange is a message to the peer, which looks at its clock and answers. The peer's look lies between sending and
// receiving; the middle is wrong by half of the round trip at most, and by as much as both ways differ: no exchange
// shows which of them is the longer one. What delays a message makes the round trip longer, so that of many exchanges
// the one of the shortest round trip says most (the clock filter of Mills' NTP; Jones and Koenig, Hunold and
// Carpen-Amarie take many exchanges likewise). Clocks drift apart by an even rate: one such exchange before what is
// measured and one behind it give a line, whose error in between is at most that of the worse one.
#pragma once

#include <algorithm>
#include <cstdint>

#include "gasmeter/base/units.hpp"

namespace gasmeter::kernels {

struct ClockExchange {
  SimTime sent;      // by the own clock
  SimTime theirs;    // by the peer's
  SimTime received;  // by the own clock

  [[nodiscard]] constexpr SimTime round_trip() const { return received - sent; }
  [[nodiscard]] constexpr SimTime middle() const { return {sent.ps + round_trip().ps / 2}; }
};

// The exchange of the shortest round trip; of equal ones the first.
template <class Exchange>
[[nodiscard]] ClockExchange shortest_of(std::uint64_t count, Exchange exchange) {
  ClockExchange shortest = exchange();
  for (std::uint64_t i = 1; i < count; ++i) {
    const ClockExchange next = exchange();
    if (next.round_trip() < shortest.round_trip()) shortest = next;
  }
  return shortest;
}

// The peer's clock by the own one: offset and drift.
class ClockLine {
 public:
  // Of one clock, which both read.
  constexpr ClockLine() = default;
  // `after` lies behind `before`. Of a clock that has not gone on in between nothing but the offset is known.
  ClockLine(const ClockExchange& before, const ClockExchange& after)
      : own_(before.middle()), theirs_(before.theirs), bound_{(longer(before, after).ps + 1) / 2} {
    const auto gone = static_cast<double>((after.theirs - before.theirs).ps);
    if (gone > 0) drift_ = (static_cast<double>((after.middle() - before.middle()).ps) - gone) / gone;
  }

  // Picoseconds of the own clock from `since` to when the peer's said `theirs` and `later_ps` more.
  [[nodiscard]] double ps_between(SimTime since, SimTime theirs, double later_ps = 0) const {
    const double gone = static_cast<double>((theirs - theirs_).ps) + later_ps;
    return static_cast<double>((own_ - since + (theirs - theirs_)).ps) + later_ps + gone * drift_;
  }
  // How far a time between both exchanges may be off; 0 of one clock.
  [[nodiscard]] SimTime bound() const { return bound_; }
  // Of the own clock, as a share of what the peer's has gone on.
  [[nodiscard]] double drift() const { return drift_; }

 private:
  [[nodiscard]] static SimTime longer(const ClockExchange& one, const ClockExchange& other) {
    return std::max(one.round_trip(), other.round_trip());
  }

  SimTime own_;
  SimTime theirs_;
  SimTime bound_;
  double drift_ = 0;
};

// The mean of many times, to the picosecond: their sum behind the first one does not fit 64 bits.
class MeanTime {
 public:
  void add(SimTime time) {
    if (count_++ == 0) first_ = time;
    sum_ += (time - first_).ps;
  }
  [[nodiscard]] SimTime first() const { return first_; }
  [[nodiscard]] double later_ps() const {  // behind the first
    return count_ == 0 ? 0 : static_cast<double>(sum_) / static_cast<double>(count_);
  }

 private:
  __extension__ using Sum = __int128;

  SimTime first_;
  Sum sum_ = 0;
  std::uint64_t count_ = 0;
};

}  // namespace gasmeter::kernels
