// Bytes that depend on their place, so that a lost, repeated or misplaced byte is noticed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "gasmeter/base/random.hpp"
#include "gasmeter/base/units.hpp"

namespace gasmeter::testing {

// Make one number out of several: the numbers of a message determine its bytes.
template <class... Numbers>
[[nodiscard]] constexpr std::uint64_t seed_of(Numbers... numbers) {
  std::uint64_t seed = 0;
  ((seed = splitmix64(seed ^ static_cast<std::uint64_t>(numbers))), ...);
  return seed;
}

inline void write_pattern(void* at, Bytes bytes, std::uint64_t seed) {
  auto* out = static_cast<unsigned char*>(at);
  std::uint64_t word = 0;
  for (Bytes i = 0; i < bytes; ++i, word >>= 8) {
    if (i % 8 == 0) word = splitmix64(seed + i);
    out[i] = static_cast<unsigned char>(word);
  }
}

[[nodiscard]] inline std::vector<std::byte> patterned(Bytes size, std::uint64_t seed) {
  std::vector<std::byte> bytes(size);
  write_pattern(bytes.data(), size, seed);
  return bytes;
}

[[nodiscard]] inline bool has_pattern(const void* at, Bytes bytes, std::uint64_t seed) {
  const auto* in = static_cast<const unsigned char*>(at);
  std::uint64_t word = 0;
  for (Bytes i = 0; i < bytes; ++i, word >>= 8) {
    if (i % 8 == 0) word = splitmix64(seed + i);
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
