// How the kernel simulator loads a simulation, by conduits and on the fabric alone.
#pragma once

#include <cstdint>

#include "gasmeter/base/random.hpp"
#include "gasmeter/bench/settings.hpp"

namespace gasmeter::bench::simulator {

inline constexpr std::uint64_t kOutstanding = 16;  // operations of a rank
inline constexpr std::uint64_t kProbe = 16;        // operations of a rank in a verification without an earlier run

// xorshift64*: a few instructions, as the loop has little else to do.
class Choice {
 public:
  // Begins a separate sequence for each rank.
  Choice(const Settings& settings, std::uint32_t rank)
      : state_(((settings.seed + 1) * kGoldenGamma + rank * 0xbf58476d1ce4e5b9ULL) | 1U) {}

  std::uint64_t next() {
    state_ ^= state_ >> 12U;
    state_ ^= state_ << 25U;
    state_ ^= state_ >> 27U;
    return state_ * 0x2545f4914f6cdd1dULL;
  }
  // Return a number from 0 to count - 1.
  std::uint32_t below(std::uint32_t count) { return static_cast<std::uint32_t>((next() >> 32U) * count >> 32U); }

 private:
  std::uint64_t state_;
};

}  // namespace gasmeter::bench::simulator
