// An active message as a put with flag carries it: what is in the flag, and where the parts of its data lie.
#pragma once

#include <cstddef>
#include <cstdint>

#include "gasmeter/base/units.hpp"
#include "gasmeter/conduit/am.hpp"
#include "gasmeter/conduit/capabilities.hpp"
#include "gasmeter/networks/aries/post_descriptor.hpp"

namespace gasmeter::networks::aries {

inline constexpr Bytes kSlot = 256;  // request areas consist of those
inline constexpr Bytes kMostLong = Bytes{8} << 20U;
inline constexpr Bytes kArgumentRoom = conduit::kMaxArguments * sizeof(std::int32_t);

// The flag: it is written behind the data, and says all about them.
struct AmWord {
  std::uint64_t category : 2 = 0;
  std::uint64_t is_reply : 1 = 0;
  std::uint64_t apart : 1 = 0;  // a Long whose payload has come before it
  std::uint64_t arguments : 5 = 0;
  std::uint64_t handler : 8 = 0;
  std::uint64_t size : 24 = 0;  // of the payload
  std::uint64_t unused : 23 = 0;

  [[nodiscard]] conduit::Category kind() const { return static_cast<conduit::Category>(category); }
};
static_assert(sizeof(AmWord) == kFlagBytes);
static_assert(kMostLong < Bytes{1} << 24U);

// What a remote event says: whose reply slot the message is of, of which side, and whether it lies in a short block.
inline constexpr std::uint32_t kReplyMark = 1U << 31U;
inline constexpr std::uint32_t kShortMark = 1U << 30U;

// The data: payload, then a Long's destination, then arguments. So a payload is aligned for any type wherever a message
// begins, and has all the room that arguments leave.
[[nodiscard]] constexpr Bytes destination_at(Bytes payload) {
  return (payload + sizeof(std::uint64_t) - 1) & ~(sizeof(std::uint64_t) - 1);
}
[[nodiscard]] constexpr Bytes arguments_at(bool of_long, Bytes payload) {
  if (of_long) return destination_at(payload) + sizeof(std::uint64_t);
  return (payload + sizeof(std::int32_t) - 1) & ~(sizeof(std::int32_t) - 1);
}
// `payload`: that it carries itself.
[[nodiscard]] constexpr Bytes message_bytes(bool of_long, unsigned arguments, Bytes payload) {
  return arguments_at(of_long, payload) + arguments * sizeof(std::int32_t);
}
// A message of no bytes has a slot, too.
[[nodiscard]] constexpr unsigned slots_for(Bytes message) {
  return message <= kSlot ? 1 : static_cast<unsigned>((message + kSlot - 1) / kSlot);
}

// Of messages of up to so many bytes.
[[nodiscard]] constexpr Bytes most_packed_long(Bytes message, unsigned arguments) {
  return (message - sizeof(std::uint64_t) - arguments * sizeof(std::int32_t)) & ~(sizeof(std::uint64_t) - 1);
}
static_assert(message_bytes(false, conduit::kMaxArguments, 4032) == 4096);
static_assert(slots_for(4096) == 16);

// Where a message lies at its target: its flag, then its data.
inline constexpr Bytes kDataAt = alignof(std::max_align_t);
[[nodiscard]] constexpr Bytes block_of(Bytes message) {
  return kDataAt + message;
}
// In this computer's memory messages of few bytes lie close together: most that are sent are.
inline constexpr Bytes kShortBlock = 128;
[[nodiscard]] constexpr bool is_short(Bytes message) {
  return block_of(message) <= kShortBlock;
}

}  // namespace gasmeter::networks::aries
