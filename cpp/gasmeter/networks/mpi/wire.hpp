// Layout of the mpi conduit's messages: a message header, then one record after another.
//
// There are two kinds of messages, each with its credits: requests and answers. A rank that waits inside a request
// handler hands over answers alone, so it can always take them. While each message that may be on its way has a
// receive, both kinds share a tag. The oldest receive then matches the next message, and only that receive has to be
// tested. With more ranks each kind has its own tag and receives.
#pragma once

#include <cstddef>
#include <cstdint>

#include "gasmeter/base/units.hpp"
#include "gasmeter/conduit/am.hpp"
#include "gasmeter/services/two_sided_service.hpp"

namespace gasmeter::networks::mpi {

enum class Flow : std::uint8_t { request, reply };

struct MessageHeader {
  std::uint16_t request_credits = 0;  // further messages that the receiver may send
  std::uint16_t reply_credits = 0;
  Flow flow{};
  std::uint8_t counted = 1;  // 0: brings only credits and has taken none
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
  std::uint32_t size = 0;  // bytes of payload
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

// Return the offset of the payload of a record that begins `at` bytes into its message. A Medium's payload is aligned
// for any type.
[[nodiscard]] constexpr Bytes payload_at(RecordKind kind, unsigned arguments, Bytes at) {
  const Bytes after = at + sizeof(Record) + words_of(kind) * kWord + arguments * sizeof(std::int32_t);
  return rounded_up(after, kind == RecordKind::am_medium ? alignof(std::max_align_t) : kWord);
}

// Return the offset of the next record.
[[nodiscard]] constexpr Bytes record_end(RecordKind kind, unsigned arguments, Bytes size, Bytes at) {
  return rounded_up(payload_at(kind, arguments, at) + (carries_payload(kind) ? size : 0), kWord);
}

// Tags of the messages. A sender and a number identify each payload that travels apart.
inline constexpr services::Tag kMessageTag{1};
inline constexpr services::Tag kReplyTag{2};  // tag of answers if requests may take all receives
inline constexpr std::uint32_t kFirstApartTag = 1024;
inline constexpr std::uint32_t kMostApart = 1024;

// Return the tag of a payload that its sender announces under this number.
[[nodiscard]] constexpr services::Tag announced_tag(std::uint32_t number) {
  return services::Tag{kFirstApartTag + number};
}
// Return the tag of a payload that its receiver asks for in this slot.
[[nodiscard]] constexpr services::Tag asked_tag(std::uint32_t slot) {
  return services::Tag{kFirstApartTag + kMostApart + slot};
}

}  // namespace gasmeter::networks::mpi
