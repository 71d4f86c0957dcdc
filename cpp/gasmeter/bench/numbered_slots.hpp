// Checking blocks: every operation has a number and a slot of its own, and every word of its data carries both number
// and seed. An operation that is left out, repeated or misplaced then changes what a slot holds.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>

#include "gasmeter/base/units.hpp"
#include "gasmeter/bench/pattern.hpp"
#include "gasmeter/bench/program.hpp"

namespace gasmeter::bench::numbered {

// Return a word of an operation's data. Numbers below 256 differ in every byte.
[[nodiscard]] inline std::uint64_t word(std::uint64_t seed, std::uint64_t number, Bytes which) {
  return pattern_word(seed, which) ^ number * 0x0101010101010101U;
}

[[nodiscard]] inline std::byte byte(std::uint64_t seed, std::uint64_t number, Bytes at) {
  return static_cast<std::byte>(word(seed, number, at / 8) >> (at % 8 * 8));
}

template <class Store>
void each_word(Bytes size, std::uint64_t seed, std::uint64_t number, Store&& store) {
  for (Bytes at = 0; at < size; at += 8) store(at, word(seed, number, at / 8), std::min<Bytes>(8, size - at));
}

inline void fill(std::span<std::byte> slot, std::uint64_t seed, std::uint64_t number) {
  each_word(slot.size(), seed, number,
            [&](Bytes at, std::uint64_t value, Bytes bytes) { std::memcpy(slot.data() + at, &value, bytes); });
}
// Store bytes each of which differs from what the slot shall hold.
inline void clear(std::span<std::byte> slot, std::uint64_t seed, std::uint64_t number) {
  each_word(slot.size(), seed, number, [&](Bytes at, std::uint64_t value, Bytes bytes) {
    value = ~value;
    std::memcpy(slot.data() + at, &value, bytes);
  });
}
// Count the bytes that differ.
[[nodiscard]] inline std::uint64_t count_differences(const void* slot, Bytes size, std::uint64_t seed,
                                                     std::uint64_t number) {
  const auto* const bytes = static_cast<const std::byte*>(slot);
  std::uint64_t differences = 0;
  each_word(size, seed, number, [&](Bytes at, std::uint64_t expected, Bytes count) {
    std::uint64_t value = expected;
    std::memcpy(&value, bytes + at, count);
    for (std::uint64_t wrong = value ^ expected; wrong != 0; wrong >>= 8U)
      differences += (wrong & 0xffU) != 0 ? 1U : 0U;
  });
  return differences;
}
inline void compare(Verification& verification, const void* slot, Bytes size, std::uint64_t seed,
                    std::uint64_t number) {
  verification.checked += size;
  verification.errors += count_differences(slot, size, seed, number);
}
// Return how many numbers data of `size` bytes can distinguish: it carries the lowest bits of its number.
[[nodiscard]] inline std::uint64_t numbers_of(Bytes size) {
  return size >= 8 ? ~std::uint64_t{0} : std::uint64_t{1} << 8 * size;
}
// Return the number, below numbers_of(size), that data carries.
[[nodiscard]] inline std::uint64_t number_in(const void* data, Bytes size, std::uint64_t seed) {
  std::uint64_t value = 0;
  std::memcpy(&value, data, std::min<Bytes>(8, size));
  constexpr std::uint64_t kInverse = 0 - std::uint64_t{255};  // inverse of word()'s factor
  const std::uint64_t number = (value ^ word(seed, 0, 0)) * kInverse;
  return size >= 8 ? number : number % numbers_of(size);
}

// Return the distance between slots: whole cache lines, so that all slots lie alike in theirs.
[[nodiscard]] inline Bytes stride_of(Bytes size) {
  constexpr Bytes kLine = 64;
  return (size + kLine - 1) / kLine * kLine;
}

inline constexpr std::uint64_t kFewest = 4;
inline constexpr std::uint64_t kMost = 100;
inline constexpr Bytes kTogether = Bytes{1} << 20U;
// Return how many slots of `stride` bytes lie behind the `used` bytes of a segment: kTogether bytes of them, but at
// least kFewest and at most kMost. A driver may grant segments of at most `largest` bytes: there are fewer slots then,
// or none, so that the driver does not refuse a segment for its slots.
[[nodiscard]] inline std::uint64_t slots_of(Bytes stride, Bytes used,
                                            Bytes largest = std::numeric_limits<Bytes>::max()) {
  stride = std::max<Bytes>(stride, 1);
  const std::uint64_t wanted = std::clamp(kTogether / stride, kFewest, kMost);
  // A block or a slot that is too large itself is refused in any case.
  return std::max(stride, used) > largest ? wanted : std::min(wanted, (largest - used) / stride);
}

}  // namespace gasmeter::bench::numbered
