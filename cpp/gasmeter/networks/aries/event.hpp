// Handles, and events as completion queues tell them to software, in GNI's words.
#pragma once

#include <cstdint>

#include "gasmeter/base/units.hpp"

namespace gasmeter::networks::aries {

// Handle of a rank's own completion queue.
struct CqHandle {
  static constexpr std::uint32_t kNone = 0xffffffffU;
  std::uint32_t number = kNone;
  [[nodiscard]] explicit operator bool() const { return number != kNone; }
  bool operator==(const CqHandle&) const = default;
};

// Handle of registered memory. A rank gives it to the peers that may reach the memory. The generation distinguishes a
// deleted registration from the present one at its place.
struct MemoryHandle {
  static constexpr std::uint32_t kNone = 0xffffffffU;
  Rank owner{};
  std::uint32_t place = kNone;
  std::uint32_t generation = 0;
  [[nodiscard]] explicit operator bool() const { return place != kNone; }
  bool operator==(const MemoryHandle&) const = default;

  static constexpr unsigned kPlaceBits = 20;
  static constexpr std::uint32_t kPlaces = 1U << kPlaceBits;
  // After kGenerations registrations at a place, the first generation returns.
  static constexpr std::uint32_t kGenerations = 1U << (32 - kPlaceBits);
  // The handle in 32 bits, for a peer that knows the owner.
  [[nodiscard]] constexpr std::uint32_t key() const { return generation << kPlaceBits | place; }
  [[nodiscard]] static constexpr MemoryHandle of_key(Rank owner, std::uint32_t key) {
    return {owner, key % kPlaces, key >> kPlaceBits};
  }
};

// Events of a post. Any of them may be combined.
using CqMode = std::uint8_t;
inline constexpr CqMode kNoEvent = 0;
inline constexpr CqMode kLocalEvent = 1;   // the memory that the post reads at its own side may change
inline constexpr CqMode kGlobalEvent = 2;  // the post is done: a put's bytes are at the target, a get's at the origin
inline constexpr CqMode kRemoteEvent = 4;  // at the target, in the queue of its memory

enum class EventType : std::uint8_t { local, global, remote, control };

[[nodiscard]] const char* name_of(EventType type);

struct CqEvent {
  EventType type{};
  Rank peer{};             // the other side
  std::uint64_t data = 0;  // local, global: the post's id; remote: its endpoint's number; control: the written value
};

// Estimate: a completion queue's entry has 64 bits.
inline constexpr Bytes kCqEntry = 8;

}  // namespace gasmeter::networks::aries
