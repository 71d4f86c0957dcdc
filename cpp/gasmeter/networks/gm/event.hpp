// Requests of software to a port and events of a port, in GM's words.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "gasmeter/base/units.hpp"

namespace gasmeter::networks::gm {

enum class Priority : std::uint8_t { low, high };
inline constexpr unsigned kPriorities = 2;

// A message of size class n has at most 2^n - 8 bytes. The message goes to a buffer that was provided for that class.
using SizeClass = std::uint8_t;
inline constexpr SizeClass kMostSizeClass = 31;

[[nodiscard]] constexpr Bytes most_bytes(SizeClass size) {
  return (Bytes{1} << size) - 8;
}
// Return the smallest class for `bytes` bytes.
[[nodiscard]] constexpr SizeClass size_class_of(Bytes bytes) {
  return static_cast<SizeClass>(std::bit_width(bytes + 7));
}

// Limits of a port's tokens: the largest number that the counters of software and firmware hold, and the smallest
// numbers with which every message leaves.
inline constexpr unsigned kMostTokens = 4096;
inline constexpr unsigned kLeastSendTokens = 4;
inline constexpr unsigned kLeastReceiveTokens = 2;

// A buffer for a message.
struct Receive {
  std::uint64_t id = 0;  // software's own number
  std::span<std::byte> memory;
  SizeClass size = 0;
  Priority priority{};
};

// An event. Software gets the token back with it.
struct Event {
  enum class Type : std::uint8_t {
    received,  // a message is in the buffer `id`
    sent,      // all bytes of the send `id` are at its target
    got,       // all bytes of the get `id` have arrived
  };
  Type type{};
  Priority priority{};
  Rank peer{};
  std::uint64_t id = 0;
  Bytes bytes = 0;
  std::uint32_t token = 0;  // of a send or get
};

// Size in host memory. Estimate: type, addresses, length, sender.
inline constexpr Bytes kEventEntry = 32;

}  // namespace gasmeter::networks::gm
