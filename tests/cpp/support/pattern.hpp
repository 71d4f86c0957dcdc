// Bytes that show where they belong: a lost, repeated or misplaced one is noticed.
#pragma once

#include <cstddef>
#include <cstdint>

#include "gasmeter/base/units.hpp"

namespace gasmeter::testing {

// Output function of splitmix64 (Steele, Lea, Flood 2014).
[[nodiscard]] constexpr std::uint64_t scrambled(std::uint64_t value) {
  value += 0x9e3779b97f4a7c15U;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9U;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebU;
  return value ^ (value >> 31);
}

// One number out of several: what names a message names its bytes.
template <class... Numbers>
[[nodiscard]] constexpr std::uint64_t seed_of(Numbers... numbers) {
  std::uint64_t seed = 0;
  ((seed = scrambled(seed ^ static_cast<std::uint64_t>(numbers))), ...);
  return seed;
}

inline void write_pattern(void* at, Bytes bytes, std::uint64_t seed) {
  auto* out = static_cast<unsigned char*>(at);
  std::uint64_t word = 0;
  for (Bytes i = 0; i < bytes; ++i, word >>= 8) {
    if (i % 8 == 0) word = scrambled(seed + i);
    out[i] = static_cast<unsigned char>(word);
  }
}

[[nodiscard]] inline bool has_pattern(const void* at, Bytes bytes, std::uint64_t seed) {
  const auto* in = static_cast<const unsigned char*>(at);
  std::uint64_t word = 0;
  for (Bytes i = 0; i < bytes; ++i, word >>= 8) {
    if (i % 8 == 0) word = scrambled(seed + i);
    if (in[i] != static_cast<unsigned char>(word)) return false;
  }
  return true;
}

[[nodiscard]] inline bool is_filled(const void* at, Bytes bytes, unsigned char value) {
  const auto* in = static_cast<const unsigned char*>(at);
  for (Bytes i = 0; i < bytes; ++i) {
    if (in[i] != value) return false;
  }
  return true;
}

}  // namespace gasmeter::testing
