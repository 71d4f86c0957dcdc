// What software asks a port for, and what it is told, in GM's words.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "gasmeter/base/units.hpp"

namespace gasmeter::networks::gm {

enum class Priority : std::uint8_t { low, high };
inline constexpr unsigned kPriorities = 2;

// A message of size class n has at most 2^n - 8 bytes, and goes to a buffer that was provided for that class.
using SizeClass = std::uint8_t;
inline constexpr SizeClass kMostSizeClass = 31;

[[nodiscard]] constexpr Bytes most_bytes(SizeClass size) {
  return (Bytes{1} << size) - 8;
}
// The least that takes so many bytes.
[[nodiscard]] constexpr SizeClass size_class_of(Bytes bytes) {
  return static_cast<SizeClass>(std::bit_width(bytes + 7));
}

// As many as fit what software and firmware count them in; the least with which every message can leave.
inline constexpr unsigned kMostTokens = 4096;
inline constexpr unsigned kLeastSendTokens = 4;
inline constexpr unsigned kLeastReceiveTokens = 2;

// A buffer for a message.
struct Receive {
  std::uint64_t id = 0;  // the software's own
  std::span<std::byte> memory;
  SizeClass size = 0;
  Priority priority{};
};

// Returns the token of what it tells of.
struct Event {
  enum class Type : std::uint8_t {
    received,  // a message is in the buffer `id`
    sent,      // all of the send `id` is at its target
    got,       // all of the get `id` is here
  };
  Type type{};
  Priority priority{};
  Rank peer{};
  std::uint64_t id = 0;
  Bytes bytes = 0;
  std::uint32_t token = 0;  // of a send or get
};

// In host memory. Estimate: type, addresses, length, sender.
inline constexpr Bytes kEventEntry = 32;

}  // namespace gasmeter::networks::gm
