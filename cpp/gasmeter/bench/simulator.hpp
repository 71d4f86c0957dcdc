// How the kernel simulator loads a simulation, by conduits and on the fabric alone.
#pragma once

#include <cstdint>

#include "gasmeter/base/random.hpp"
#include "gasmeter/bench/settings.hpp"

namespace gasmeter::bench::simulator {

inline constexpr std::uint64_t kOutstanding = 16;  // of a rank
inline constexpr std::uint64_t kProbe = 16;        // operations of a rank in a verification that nothing was run before

// xorshift64*: a few instructions, other than which the loop has little to do.
class Choice {
 public:
  // A sequence of its own for each rank.
  Choice(const Settings& settings, std::uint32_t rank)
      : state_(((settings.seed + 1) * kGoldenGamma + rank * 0xbf58476d1ce4e5b9ULL) | 1U) {}

  std::uint64_t next() {
    state_ ^= state_ >> 12U;
    state_ ^= state_ << 25U;
    state_ ^= state_ >> 27U;
    return state_ * 0x2545f4914f6cdd1dULL;
  }
  // 0 .. count - 1.
  std::uint32_t below(std::uint32_t count) { return static_cast<std::uint32_t>((next() >> 32U) * count >> 32U); }

 private:
  std::uint64_t state_;
};

}  // namespace gasmeter::bench::simulator
