// Types of quantities and identities. Elsewhere a plain number carries its unit in its name.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "gasmeter/base/platform.hpp"

namespace gasmeter {

using Bytes = std::size_t;

// Distinct types: a rank is not a node, a node is not a handler index.
enum class Rank : std::uint32_t {};
enum class NodeId : std::uint32_t {};
enum class HandlerIndex : std::uint8_t {};

[[nodiscard]] constexpr std::uint32_t index(Rank rank) {
  return static_cast<std::uint32_t>(rank);
}
[[nodiscard]] constexpr std::uint32_t index(NodeId node) {
  return static_cast<std::uint32_t>(node);
}
[[nodiscard]] constexpr std::uint8_t index(HandlerIndex handler) {
  return static_cast<std::uint8_t>(handler);
}

// An instant or a span of time in whole picoseconds: wall-clock on real hosts, exact virtual time on modelled ones.
// Sums and products never wrap. A result above 64 bits becomes kTooLate, which lies behind kLastInstant.
struct SimTime {
  std::int64_t ps = 0;

  [[nodiscard]] static constexpr SimTime from_ns(double ns);
  // Return the time of `bytes` bytes at `fs` femtoseconds each, rounded down.
  [[nodiscard]] static constexpr SimTime of_bytes(std::int64_t fs, Bytes bytes);
  [[nodiscard]] constexpr double ns() const { return static_cast<double>(ps) * 1e-3; }
  [[nodiscard]] constexpr double seconds() const { return static_cast<double>(ps) * 1e-12; }

  constexpr auto operator<=>(const SimTime&) const = default;
  constexpr SimTime& operator+=(SimTime other);
};

inline constexpr SimTime kNever{std::numeric_limits<std::int64_t>::max()};
// The end of virtual time, 4 000 000 s (46 days): nothing happens later. The range of 64 bits behind it is far longer
// than any time that a machine or a program states.
inline constexpr SimTime kLastInstant{4'000'000'000'000'000'000};
inline constexpr SimTime kTooLate{kNever.ps - (std::int64_t{1} << 40)};

// This sum takes one instruction more than a sum that may wrap.
[[nodiscard]] constexpr SimTime operator+(SimTime a, SimTime b) {
  std::int64_t sum = 0;
  if (GASMETER_UNLIKELY(__builtin_add_overflow(a.ps, b.ps, &sum))) return kTooLate;
  return {sum};
}
[[nodiscard]] constexpr SimTime operator-(SimTime a, SimTime b) {
  return {a.ps - b.ps};
}
[[nodiscard]] constexpr SimTime operator*(SimTime a, std::int64_t times) {
  std::int64_t product = 0;
  if (GASMETER_UNLIKELY(__builtin_mul_overflow(a.ps, times, &product))) return kTooLate;
  return {product};
}
constexpr SimTime& SimTime::operator+=(SimTime other) {
  *this = *this + other;
  return *this;
}
constexpr SimTime SimTime::from_ns(double ns) {
  constexpr double kMostNs = static_cast<double>(kTooLate.ps) * 1e-3;
  if (!(ns < kMostNs)) return kTooLate;
  return {static_cast<std::int64_t>(ns * 1e3 + (ns < 0 ? -0.5 : 0.5))};
}
// SimTime::of_bytes() for products of femtoseconds above 64 bits, which overflow a thousand times earlier than
// picoseconds.
[[nodiscard]] GASMETER_NOINLINE constexpr SimTime long_time_of_bytes(std::int64_t fs, std::int64_t bytes) {
  std::int64_t ps = 0;
  const std::int64_t part_of_fs = fs % 1000;
  const bool fits = !__builtin_mul_overflow(fs / 1000, bytes, &ps) &&
                    !__builtin_add_overflow(ps, part_of_fs * (bytes / 1000), &ps) &&
                    !__builtin_add_overflow(ps, part_of_fs * (bytes % 1000) / 1000, &ps);
  return fits ? SimTime{ps} : kTooLate;
}
constexpr SimTime SimTime::of_bytes(std::int64_t fs, Bytes bytes) {
  std::uint64_t product = 0;
  if (GASMETER_UNLIKELY(__builtin_mul_overflow(static_cast<std::uint64_t>(fs), std::uint64_t{bytes}, &product))) {
    return long_time_of_bytes(fs, static_cast<std::int64_t>(bytes));
  }
  return {static_cast<std::int64_t>(product / 1000)};
}

}  // namespace gasmeter
