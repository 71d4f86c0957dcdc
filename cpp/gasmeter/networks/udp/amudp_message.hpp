// What the classic scheme's messages look like, one per datagram (little-endian), and its fixed numbers.
//
//   header, 48 B (wire.hpp; its sequence counts the requests of one slot) | message head, 16 B | arguments | payload
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>

#include "gasmeter/conduit/capabilities.hpp"
#include "gasmeter/networks/udp/wire.hpp"

namespace gasmeter::networks::udp::amudp {

// All numbers and rules: GASNet AMUDP sources 2003 to mid-2016 (LBNL/UCB), named as there.
inline constexpr unsigned kDepth = 4;                       // AMUDP_DEFAULT_NETWORKDEPTH: unanswered requests to a peer
inline constexpr SimTime kFirstTimeout{10'000'000'000};     // AMUDP_INITIAL_REQUESTTIMEOUT_MICROSEC
inline constexpr std::int64_t kBackOff = 2;                 // AMUDP_REQUESTTIMEOUT_BACKOFF_MULTIPLIER
inline constexpr SimTime kMostTimeout{30'000'000'000'000};  // AMUDP_MAX_REQUESTTIMEOUT_MICROSEC
inline constexpr std::int64_t kExpectedKbytesPerSecond = 1220;  // AMUDP_DEFAULT_EXPECTED_BANDWIDTH
inline constexpr Bytes kMaxMedium = 512;                        // AMUDP_MAX_MEDIUM
inline constexpr Bytes kMaxLong = 65000;                        // AMUDP_MAX_LONG
// AMUDP_MAX_RECVMSGS_PER_POLL, or the depth if that is more.
inline constexpr unsigned kServedPerPoll = std::max(10U, kDepth);
// AMUDP_TIMEOUTS_CHECKED_EACH_POLL is 1: a poll looks at one retransmission timer, whichever is next in turn.

// Backed off from the start until it covers the way there and back at the expected bandwidth, which is counted in whole
// microseconds per byte.
constexpr SimTime first_timeout(Bytes bytes) {
  constexpr std::int64_t us_per_byte = 2 * 1'000'000 / (1024 * kExpectedKbytesPerSecond);
  const SimTime expected = SimTime{1'000'000} * (us_per_byte * static_cast<std::int64_t>(bytes));
  SimTime timeout = kFirstTimeout;
  while (timeout < expected && timeout < kMostTimeout) timeout = timeout * kBackOff;
  return timeout;
}
static_assert(first_timeout(10'000) == kFirstTimeout);
static_assert(first_timeout(kMaxLong) == kFirstTimeout * 8);

// Datagrams of up to so many bytes share buffers: the largest Medium's.
inline constexpr Bytes kSmallBuffer = 1024;

// What it asks of the operating system.
struct Calls {
  std::uint64_t sends = 0;       // sendto, what was refused included
  std::uint64_t receives = 0;    // recvfrom
  std::uint64_t looks = 0;       // ioctl, FIONREAD
  std::uint64_t vain_polls = 0;  // polls whose one look found nothing: of waits, and most in front of requests
  std::uint64_t clock_reads = 0;
};

enum class Kind : std::uint8_t {
  request,
  reply,
  acknowledgement,  // the empty reply to a request whose handler sent none
};

struct MessageHead {
  Kind kind{};
  conduit::Category category{};
  std::uint8_t handler = 0;
  std::uint8_t arguments = 0;
  std::uint8_t slot = 0;  // of the request, at its sender
  std::uint8_t unused = 0;
  std::uint16_t size = 0;         // payload bytes
  std::uint64_t destination = 0;  // of a Long
};
static_assert(sizeof(MessageHead) == 16);
static_assert(kMaxLong <= 0xffff);
static_assert(kDepth <= 256);

inline constexpr Bytes kHeadAt = sizeof(Header);
inline constexpr Bytes kArgumentsAt = kHeadAt + sizeof(MessageHead);

// A Medium's payload is handed to its handler where it lies, so it is aligned for any type.
constexpr Bytes payload_at(unsigned arguments) {
  return round_up(kArgumentsAt + 4 * Bytes{arguments}, 16);
}
constexpr Bytes message_bytes(unsigned arguments, Bytes size) {
  return size == 0 ? kArgumentsAt + 4 * Bytes{arguments} : payload_at(arguments) + size;
}
inline constexpr Bytes kMostHead = payload_at(conduit::kMaxArguments);
static_assert(kMostHead + kMaxMedium <= kSmallBuffer);

// One datagram that may have to be sent again. Its memory grows to what its slot once held and stays.
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
