// Layout of an active message in a send: the contents of its immediate data, and positions of its parts.
#pragma once

#include <cstdint>

#include "gasmeter/base/units.hpp"
#include "gasmeter/conduit/am.hpp"
#include "gasmeter/conduit/capabilities.hpp"
#include "gasmeter/services/card_ams.hpp"

namespace gasmeter::networks::ibv {

inline constexpr Bytes kMostMessage = 4096;     // of a send
inline constexpr Bytes kMostMedium = 4024;      // with 16 arguments
inline constexpr Bytes kMostPackedLong = 4016;  // with 16 arguments; RDMA writes larger payloads before the send
inline constexpr Bytes kMostLong = 64 * 1024;

// The immediate data of a send.
struct AmWord {
  std::uint32_t category : 2 = 0;
  std::uint32_t is_reply : 1 = 0;
  std::uint32_t arguments : 5 = 0;
  std::uint32_t handler : 8 = 0;
  std::uint32_t packed : 1 = 0;     // the message holds a Long's payload
  std::uint32_t credits : 8 = 0;    // credits that a hidden reply returns
  std::uint32_t is_hidden : 1 = 0;  // a reply: it only returns credits; a request: it grants a ring
  std::uint32_t slots : 6 = 0;      // slots of a ring that a hidden reply returns

  [[nodiscard]] conduit::Category kind() const { return static_cast<conduit::Category>(category); }
};
static_assert(sizeof(AmWord) == 4);

// An argument of the library itself: resources that the receiver gets back.
struct AmFlow {
  std::uint8_t credits = 0;  // for requests
  std::uint8_t slots = 0;    // of its ring
  std::uint16_t unused = 0;
};
static_assert(sizeof(AmFlow) == sizeof(std::int32_t));

// Fields of a message before its arguments, the first of which is an AmFlow.
struct MediumHeader {
  std::uint32_t size = 0;
};
struct LongHeader {
  std::uint32_t destination_low = 0;
  std::uint32_t destination_high = 0;
  std::uint32_t size = 0;
};

inline constexpr services::AmLayout kLayout{0, sizeof(MediumHeader), sizeof(LongHeader)};
[[nodiscard]] constexpr Bytes header_bytes(conduit::Category category, unsigned arguments) {
  return kLayout.header_bytes(category, 1 + arguments);
}

// Receive buffers begin half an alignment before an aligned address. A Medium's payload is then aligned for any type,
// also with 16 arguments, where it begins 72 bytes into the message. A Long's payload is copied anyhow. The payload is
// aligned in its send buffer, where the message begins half an alignment later. Another alignment before the message
// has room for a ring's header.
using services::kAlignment;
inline constexpr Bytes kHalf = kAlignment / 2;
inline constexpr Bytes kBufferStride = services::aligned(kMostMessage + kAlignment);
inline constexpr Bytes kSendStride = kBufferStride + kAlignment;

// Offset of a message in its send buffer.
[[nodiscard]] constexpr Bytes message_at(conduit::Category category) {
  return kAlignment + (category == conduit::Category::long_message ? kAlignment : kHalf);
}
[[nodiscard]] constexpr Bytes payload_at(conduit::Category category, unsigned arguments) {
  return services::aligned(message_at(category) + header_bytes(category, arguments)) - message_at(category);
}
static_assert(kAlignment == 16);
static_assert(payload_at(conduit::Category::medium, conduit::kMaxArguments) + kMostMedium == kMostMessage);
static_assert(payload_at(conduit::Category::long_message, conduit::kMaxArguments) + kMostPackedLong == kMostMessage);
static_assert(message_at(conduit::Category::long_message) + kMostMessage <= kSendStride);

// Bytes of a message that carries `size` bytes itself.
[[nodiscard]] constexpr Bytes message_bytes(conduit::Category category, unsigned arguments, Bytes size) {
  return size == 0 ? header_bytes(category, arguments) : payload_at(category, arguments) + size;
}

}  // namespace gasmeter::networks::ibv
