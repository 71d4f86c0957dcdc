// Handles, and what completion queues tell software, in GNI's words.
#pragma once

#include <cstdint>

#include "gasmeter/base/units.hpp"

namespace gasmeter::networks::aries {

// Of a rank's own completion queues.
struct CqHandle {
  static constexpr std::uint32_t kNone = 0xffffffffU;
  std::uint32_t number = kNone;
  [[nodiscard]] explicit operator bool() const { return number != kNone; }
  bool operator==(const CqHandle&) const = default;
};

// Of registered memory, for whoever is told: a rank gives it to those that may reach that memory. The generation tells
// a registration that is gone from the one that has its place now.
struct MemoryHandle {
  static constexpr std::uint32_t kNone = 0xffffffffU;
  Rank owner{};
  std::uint32_t place = kNone;
  std::uint32_t generation = 0;
  [[nodiscard]] explicit operator bool() const { return place != kNone; }
  bool operator==(const MemoryHandle&) const = default;

  static constexpr unsigned kPlaceBits = 20;
  static constexpr std::uint32_t kPlaces = 1U << kPlaceBits;
  static constexpr std::uint32_t kGenerations = 1U << (32 - kPlaceBits);  // then the first again
  // In 32 bits, for whoever knows the owner.
  [[nodiscard]] constexpr std::uint32_t key() const { return generation << kPlaceBits | place; }
  [[nodiscard]] static constexpr MemoryHandle of_key(Rank owner, std::uint32_t key) {
    return {owner, key % kPlaces, key >> kPlaceBits};
  }
};

// Which events a post has, any of them together.
using CqMode = std::uint8_t;
inline constexpr CqMode kNoEvent = 0;
inline constexpr CqMode kLocalEvent = 1;   // what the post reads at its own side may change
inline constexpr CqMode kGlobalEvent = 2;  // it is done: a put's bytes are at the target, a get's are here
inline constexpr CqMode kRemoteEvent = 4;  // at the target, in the queue of the memory there

enum class EventType : std::uint8_t { local, global, remote, control };

[[nodiscard]] const char* name_of(EventType type);

struct CqEvent {
  EventType type{};
  Rank peer{};             // the other side
  std::uint64_t data = 0;  // local, global: the post's id; remote: of its endpoint; control: that was written
};

// Estimate: a completion queue's entry has 64 bits.
inline constexpr Bytes kCqEntry = 8;

}  // namespace gasmeter::networks::aries
