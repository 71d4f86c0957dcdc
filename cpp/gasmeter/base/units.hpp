// Quantities and identities. A plain number elsewhere carries its unit in its name.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <limits>

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
// 64 bits hold 106 days.
struct SimTime {
  std::int64_t ps = 0;

  [[nodiscard]] static constexpr SimTime from_ns(double ns) {
    return {static_cast<std::int64_t>(ns * 1e3 + (ns < 0 ? -0.5 : 0.5))};
  }
  [[nodiscard]] constexpr double ns() const { return static_cast<double>(ps) * 1e-3; }
  [[nodiscard]] constexpr double seconds() const { return static_cast<double>(ps) * 1e-12; }

  constexpr auto operator<=>(const SimTime&) const = default;
  constexpr SimTime& operator+=(SimTime other) {
    ps += other.ps;
    return *this;
  }
};

[[nodiscard]] constexpr SimTime operator+(SimTime a, SimTime b) {
  return {a.ps + b.ps};
}
[[nodiscard]] constexpr SimTime operator-(SimTime a, SimTime b) {
  return {a.ps - b.ps};
}
[[nodiscard]] constexpr SimTime operator*(SimTime a, std::int64_t times) {
  return {a.ps * times};
}

inline constexpr SimTime kNever{std::numeric_limits<std::int64_t>::max()};

}  // namespace gasmeter
