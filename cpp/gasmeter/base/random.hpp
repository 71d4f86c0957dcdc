// Pseudo-random numbers computed from other numbers: seeds, test data, the choice of a refused resource.
#pragma once

#include <cstdint>

namespace gasmeter {

// Increment of splitmix64's state (Steele, Lea, Flood 2014): 2^64 over the golden ratio, odd.
inline constexpr std::uint64_t kGoldenGamma = 0x9e3779b97f4a7c15U;

// Output function of splitmix64, one step from the state `value`: every input bit changes half of the output bits.
[[nodiscard]] constexpr std::uint64_t splitmix64(std::uint64_t value) {
  value += kGoldenGamma;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9U;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebU;
  return value ^ (value >> 31);
}

}  // namespace gasmeter
