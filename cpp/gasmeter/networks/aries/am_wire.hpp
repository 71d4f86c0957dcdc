// Layout of an active message in a put with flag: the contents of the flag, and the parts of the data.
#pragma once

#include <cstdint>

#include "gasmeter/base/units.hpp"
#include "gasmeter/conduit/am.hpp"
#include "gasmeter/conduit/capabilities.hpp"
#include "gasmeter/networks/aries/post_descriptor.hpp"
#include "gasmeter/services/card_ams.hpp"

namespace gasmeter::networks::aries {

inline constexpr Bytes kSlot = 256;  // size of a slot of a request area
inline constexpr Bytes kMostLong = Bytes{8} << 20U;
inline constexpr Bytes kArgumentRoom = conduit::kMaxArguments * sizeof(std::int32_t);

// The flag of a message. The card writes it behind the data, and it describes them completely.
struct AmWord {
  std::uint64_t category : 2 = 0;
  std::uint64_t is_reply : 1 = 0;
  std::uint64_t apart : 1 = 0;  // the payload of a Long had a put of its own, and arrived earlier
  std::uint64_t arguments : 5 = 0;
  std::uint64_t handler : 8 = 0;
  std::uint64_t size : 24 = 0;  // of the payload
  std::uint64_t unused : 23 = 0;

  [[nodiscard]] conduit::Category kind() const { return static_cast<conduit::Category>(category); }
};
static_assert(sizeof(AmWord) == kFlagBytes);
static_assert(kMostLong < Bytes{1} << 24U);

// Contents of a remote event: the number of a reply slot. Marks tell whether the message is a reply, and whether it
// lies in a short block.
inline constexpr std::uint32_t kReplyMark = 1U << 31U;
inline constexpr std::uint32_t kShortMark = 1U << 30U;

// Data of a message: payload, then a Long's destination, then arguments. The payload comes first, so that it is aligned
// for any type and may use all the room that arguments leave.
[[nodiscard]] constexpr Bytes destination_at(Bytes payload) {
  return (payload + sizeof(std::uint64_t) - 1) & ~(sizeof(std::uint64_t) - 1);
}
[[nodiscard]] constexpr Bytes arguments_at(bool of_long, Bytes payload) {
  if (of_long) return destination_at(payload) + sizeof(std::uint64_t);
  return (payload + sizeof(std::int32_t) - 1) & ~(sizeof(std::int32_t) - 1);
}
// `payload`: bytes within the message itself.
[[nodiscard]] constexpr Bytes message_bytes(bool of_long, unsigned arguments, Bytes payload) {
  return arguments_at(of_long, payload) + arguments * sizeof(std::int32_t);
}
// An empty message has a slot, too.
[[nodiscard]] constexpr unsigned slots_for(Bytes message) {
  return message <= kSlot ? 1 : static_cast<unsigned>((message + kSlot - 1) / kSlot);
}

// The largest payload that fits a Long's message of up to `message` bytes.
[[nodiscard]] constexpr Bytes most_packed_long(Bytes message, unsigned arguments) {
  return (message - sizeof(std::uint64_t) - arguments * sizeof(std::int32_t)) & ~(sizeof(std::uint64_t) - 1);
}
static_assert(message_bytes(false, conduit::kMaxArguments, 4032) == 4096);
static_assert(slots_for(4096) == 16);

// Layout of a message at its target: its flag, then its data.
inline constexpr Bytes kDataAt = services::kAlignment;
[[nodiscard]] constexpr Bytes block_of(Bytes message) {
  return kDataAt + message;
}
// Short messages, which are the most frequent, lie close together in this computer's memory.
inline constexpr Bytes kShortBlock = 128;
[[nodiscard]] constexpr bool is_short(Bytes message) {
  return block_of(message) <= kShortBlock;
}

}  // namespace gasmeter::networks::aries
