// Layout of the classic scheme's messages, each a message of the network, and its constants.
//
//   message head, 16 B | arguments | payload
#pragma once

#include <cstdint>

#include "gasmeter/base/units.hpp"
#include "gasmeter/conduit/am.hpp"
#include "gasmeter/conduit/capabilities.hpp"
#include "gasmeter/networks/mpi/wire.hpp"

namespace gasmeter::networks::mpi::ammpi {

// Source of all numbers and rules: GASNet AMMPI and mpi-conduit, 2004, 2009 and 2012 (LBNL/UCB). Each comment has the
// name used there.
inline constexpr std::uint32_t kDepth = 4;       // GASNET_NETWORKDEPTH
inline constexpr std::uint32_t kMostDepth = 64;  // limit of gasmeter, because tokens travel in a byte
inline constexpr Bytes kMaxData = 65000;         // AMMPI_MAX_MEDIUM, AMMPI_MAX_LONG
inline constexpr unsigned kServedPerPoll = 10;   // AMMPI_MAX_RECVMSGS_PER_POLL
inline constexpr std::size_t kPostedLate = 1;    // AMMPI_RECV_REPOST_SLACK: receives that are posted one message late

// For a depth d, 2 d requests may be on their way to a peer (AMMPI_CREDITS_PP). A receiver keeps at most three quarters
// of the tokens to itself (AMMPI_CREDITS_SLACK). For requests and for replies each, 2 d receives are posted, whatever
// the number of peers, and d small and d large buffers serve sends.
[[nodiscard]] constexpr std::uint32_t tokens_of(std::uint32_t depth) {
  return 2 * depth;
}
[[nodiscard]] constexpr std::uint32_t slack_of(std::uint32_t depth) {
  const std::uint32_t tokens = tokens_of(depth);
  const std::uint32_t slack = tokens * 3 / 4;
  return slack < tokens ? slack : tokens - 1;
}
[[nodiscard]] constexpr std::uint32_t receives_of(std::uint32_t depth) {
  return 2 * depth;
}

struct MessageHead {
  Flow flow{};
  conduit::Category category{};
  HandlerIndex handler{};
  std::uint8_t arguments = 0;
  std::uint16_t size = 0;   // bytes of payload
  std::uint8_t tokens = 0;  // further requests that the receiver may send
  std::uint8_t empty = 0;   // 1: reply for a handler that sent none; it only brings tokens
  std::uint64_t destination = 0;
};
static_assert(sizeof(MessageHead) == 16);
static_assert(kMaxData <= 0xffff);

inline constexpr Bytes kArgumentsAt = sizeof(MessageHead);

// A handler reads a Medium's payload in the message, so it is aligned for any type.
[[nodiscard]] constexpr Bytes payload_at(unsigned arguments) {
  return rounded_up(kArgumentsAt + arguments * sizeof(std::int32_t), alignof(std::max_align_t));
}
[[nodiscard]] constexpr Bytes message_bytes(unsigned arguments, Bytes size) {
  return size == 0 ? kArgumentsAt + arguments * sizeof(std::int32_t) : payload_at(arguments) + size;
}

// Size of a small buffer, for messages without payload.
inline constexpr Bytes kSmallMessage = message_bytes(conduit::kMaxArguments, 0);

}  // namespace gasmeter::networks::mpi::ammpi
