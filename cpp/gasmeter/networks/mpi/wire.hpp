// What travels in the messages of the mpi conduit: a message header and one record after the other.
//
// There are two kinds of messages, each with its credits: those with requests, and those with what answers them.
// Whoever waits inside a request handler hands over the second kind alone, so that it always can. As long as every
// message that may be on its way has a receive, both have one tag: the receive at the head of the list is the one that
// matches, and the one to look at. With more ranks each kind has its tag and its receives.
#pragma once

#include <cstddef>
#include <cstdint>

#include "gasmeter/base/units.hpp"
#include "gasmeter/conduit/am.hpp"
#include "gasmeter/services/two_sided_service.hpp"

namespace gasmeter::networks::mpi {

enum class Flow : std::uint8_t { request, reply };

struct MessageHeader {
  std::uint16_t request_credits = 0;  // the receiver may send so many more
  std::uint16_t reply_credits = 0;
  Flow flow{};
  std::uint8_t counted = 1;  // 0: brings nothing but credits and has taken none
  std::uint16_t unused = 0;
};
static_assert(sizeof(MessageHeader) == 8);

enum class RecordKind : std::uint8_t {
  am_short,
  am_medium,
  am_long,        // word: destination; payload
  am_long_apart,  // words: destination, tag; the payload is a message of its own
  put,            // words: destination, operation; payload
  put_apart,      // words: destination, operation and tag
  put_done,       // `size` is the operation
  get,            // words: source, destination, operation and tag; tag 0: the data comes in a record
  got,            // words: destination, operation; payload
};

struct Record {
  RecordKind kind{};
  HandlerIndex handler{};
  std::uint8_t arguments = 0;
  std::uint8_t unused = 0;
  std::uint32_t size = 0;  // of the payload
};
static_assert(sizeof(Record) == 8);

inline constexpr Bytes kWord = sizeof(std::uint64_t);

[[nodiscard]] constexpr unsigned words_of(RecordKind kind) {
  switch (kind) {
    case RecordKind::am_short:
    case RecordKind::am_medium:
    case RecordKind::put_done:
      return 0;
    case RecordKind::am_long:
      return 1;
    case RecordKind::am_long_apart:
    case RecordKind::put:
    case RecordKind::put_apart:
    case RecordKind::got:
      return 2;
    case RecordKind::get:
      return 3;
  }
  return 0;
}

[[nodiscard]] constexpr bool carries_payload(RecordKind kind) {
  return kind == RecordKind::am_medium || kind == RecordKind::am_long || kind == RecordKind::put ||
         kind == RecordKind::got;
}

[[nodiscard]] constexpr Bytes rounded_up(Bytes bytes, Bytes to) {
  return (bytes + to - 1) / to * to;
}

// Where a record that begins `at` bytes into its message has its payload; a Medium's is aligned for any type.
[[nodiscard]] constexpr Bytes payload_at(RecordKind kind, unsigned arguments, Bytes at) {
  const Bytes after = at + sizeof(Record) + words_of(kind) * kWord + arguments * sizeof(std::int32_t);
  return rounded_up(after, kind == RecordKind::am_medium ? alignof(std::max_align_t) : kWord);
}

// ... and where the next record begins.
[[nodiscard]] constexpr Bytes record_end(RecordKind kind, unsigned arguments, Bytes size, Bytes at) {
  return rounded_up(payload_at(kind, arguments, at) + (carries_payload(kind) ? size : 0), kWord);
}

// The tags. What travels apart is told apart by who sends it and a number.
inline constexpr services::Tag kMessageTag{1};
inline constexpr services::Tag kReplyTag{2};  // of answers, if requests may take all receives
inline constexpr std::uint32_t kFirstApartTag = 1024;
inline constexpr std::uint32_t kMostApart = 1024;

// The sender's number of a payload that it announces.
[[nodiscard]] constexpr services::Tag announced_tag(std::uint32_t number) {
  return services::Tag{kFirstApartTag + number};
}
// The receiver's slot of a payload that it asks for.
[[nodiscard]] constexpr services::Tag asked_tag(std::uint32_t slot) {
  return services::Tag{kFirstApartTag + kMostApart + slot};
}

}  // namespace gasmeter::networks::mpi
