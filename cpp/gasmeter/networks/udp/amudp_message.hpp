// Layout of the classic scheme's messages, one in each datagram (little-endian), and its constants.
//
//   header, 48 B (wire.hpp; its sequence counts the requests of one slot) | message head, 16 B | arguments | payload
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>

#include "gasmeter/conduit/capabilities.hpp"
#include "gasmeter/networks/udp/wire.hpp"

namespace gasmeter::networks::udp::amudp {

// Source of all numbers and rules: GASNet AMUDP, 2003 to mid-2016 (LBNL/UCB). Each comment has the name used there.
inline constexpr unsigned kDepth = 4;                       // AMUDP_DEFAULT_NETWORKDEPTH: unanswered requests to a peer
inline constexpr SimTime kFirstTimeout{10'000'000'000};     // AMUDP_INITIAL_REQUESTTIMEOUT_MICROSEC
inline constexpr std::int64_t kBackOff = 2;                 // AMUDP_REQUESTTIMEOUT_BACKOFF_MULTIPLIER
inline constexpr SimTime kMostTimeout{30'000'000'000'000};  // AMUDP_MAX_REQUESTTIMEOUT_MICROSEC
inline constexpr std::int64_t kExpectedKbytesPerSecond = 1220;  // AMUDP_DEFAULT_EXPECTED_BANDWIDTH
inline constexpr Bytes kMaxMedium = 512;                        // AMUDP_MAX_MEDIUM
inline constexpr Bytes kMaxLong = 65000;                        // AMUDP_MAX_LONG
// AMUDP_MAX_RECVMSGS_PER_POLL, or the depth if that is larger
inline constexpr unsigned kServedPerPoll = std::max(10U, kDepth);
// AMUDP_TIMEOUTS_CHECKED_EACH_POLL is 1: a poll checks one retransmission timer, each request's in turn.

// Return the first timeout. It doubles until it covers the way there and back at the expected bandwidth, counted in
// whole microseconds per byte.
constexpr SimTime first_timeout(Bytes bytes) {
  constexpr std::int64_t us_per_byte = 2 * 1'000'000 / (1024 * kExpectedKbytesPerSecond);
  const SimTime expected = SimTime{1'000'000} * (us_per_byte * static_cast<std::int64_t>(bytes));
  SimTime timeout = kFirstTimeout;
  while (timeout < expected && timeout < kMostTimeout) timeout = timeout * kBackOff;
  return timeout;
}
static_assert(first_timeout(10'000) == kFirstTimeout);
static_assert(first_timeout(kMaxLong) == kFirstTimeout * 8);

// Datagrams up to the size of the largest Medium's share buffers of this size.
inline constexpr Bytes kSmallBuffer = 1024;

// System calls of the conduit.
struct Calls {
  std::uint64_t sends = 0;       // sendto, refused calls included
  std::uint64_t receives = 0;    // recvfrom
  std::uint64_t looks = 0;       // ioctl, FIONREAD
  std::uint64_t vain_polls = 0;  // polls whose only look found nothing: in waits, and most of those before requests
  std::uint64_t clock_reads = 0;
};

enum class Kind : std::uint8_t {
  request,
  reply,
  acknowledgement,  // empty reply to a request whose handler sent none
};

struct MessageHead {
  Kind kind{};
  conduit::Category category{};
  std::uint8_t handler = 0;
  std::uint8_t arguments = 0;
  std::uint8_t slot = 0;  // slot of the request at its sender
  std::uint8_t unused = 0;
  std::uint16_t size = 0;         // payload bytes
  std::uint64_t destination = 0;  // destination of a Long
};
static_assert(sizeof(MessageHead) == 16);
static_assert(kMaxLong <= 0xffff);
static_assert(kDepth <= 256);

inline constexpr Bytes kHeadAt = sizeof(Header);
inline constexpr Bytes kArgumentsAt = kHeadAt + sizeof(MessageHead);

// A handler reads a Medium's payload in the datagram, so it is aligned for any type.
constexpr Bytes payload_at(unsigned arguments) {
  return round_up(kArgumentsAt + 4 * Bytes{arguments}, 16);
}
constexpr Bytes message_bytes(unsigned arguments, Bytes size) {
  return size == 0 ? kArgumentsAt + 4 * Bytes{arguments} : payload_at(arguments) + size;
}
inline constexpr Bytes kMostHead = payload_at(conduit::kMaxArguments);
static_assert(kMostHead + kMaxMedium <= kSmallBuffer);

// Datagram that may have to be sent again. Its memory never shrinks.
struct Datagram {
  std::unique_ptr<std::byte[]> data;  // aligned to 16, as every new array is
  Bytes room = 0;
  Bytes bytes = 0;

  void make_room(Bytes needed) {
    if (needed <= room) return;
    data = std::make_unique_for_overwrite<std::byte[]>(needed);
    room = needed;
  }
};
static_assert(__STDCPP_DEFAULT_NEW_ALIGNMENT__ >= 16);

}  // namespace gasmeter::networks::udp::amudp
