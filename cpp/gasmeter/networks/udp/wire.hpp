// The udp conduit's datagrams: what stands in them, byte for byte (little-endian).
//
//   header, 48 B | records (messages, small puts, gets), each a multiple of 8 B
//   header, 48 B | fragment header, 32 B | arguments (first fragment of a message) | payload
//
// The keyed hash covers every byte but the payload of fragments of puts, gets and Longs, or that as well
// (auth=payload). Who sent a datagram stands in its header and is believed once the hash fits.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>

#include "gasmeter/base/keyed_hash.hpp"
#include "gasmeter/base/platform.hpp"
#include "gasmeter/base/units.hpp"
#include "gasmeter/base/universal_hash.hpp"
#include "gasmeter/conduit/am.hpp"

namespace gasmeter::networks::udp {

enum class Content : std::uint8_t { nothing, records, fragment };

// Flags of a header.
inline constexpr std::uint8_t kAcknowledgeNow = 1;  // the sender is waiting for it
inline constexpr std::uint8_t kMovesData = 2;       // holds puts or answers to gets, applied before it is acknowledged

struct Header {
  std::uint64_t tag = 0;      // keyed hash of what follows
  std::uint32_t session = 0;  // of this run; a datagram of another one is stale
  std::uint16_t source = 0;   // ranks
  std::uint16_t destination = 0;
  std::uint64_t sequence = 0;      // per pair of ranks, counted without end; with Content::nothing without meaning
  std::uint64_t acknowledged = 0;  // every sequence below this one has arrived
  std::uint64_t selective = 0;     // bit i: acknowledged + 1 + i has arrived, too
  std::uint16_t bytes = 0;         // of the datagram
  Content content = Content::nothing;
  std::uint8_t flags = 0;
  std::uint32_t handled = 0;  // of the destination's requests, in bytes of RequestCredit
};
static_assert(sizeof(Header) == 48);
inline constexpr std::uint32_t kMostRanks = 65536;

// ---- records
enum class RecordKind : std::uint8_t {
  end,  // the rest is padding
  request_short,
  reply_short,
  request_medium,
  reply_medium,
  request_long,
  reply_long,
  put,    // address, data
  get,    // address, identity of the get
  found,  // identity of the get, data: the answer to a small get
};

struct Record {
  RecordKind kind = RecordKind::end;
  std::uint8_t handler = 0;
  std::uint8_t arguments = 0;
  std::uint8_t unused = 0;
  std::uint32_t size = 0;  // payload bytes
};
static_assert(sizeof(Record) == 8);

constexpr Bytes round_up(Bytes bytes, Bytes to) {
  return (bytes + to - 1) / to * to;
}

// Behind a Short's or Medium's record: arguments. Behind a Long's, a put's, a get's: an 8-byte word, then arguments.
constexpr Bytes kWord = 8;

constexpr bool has_word(RecordKind kind) {
  return kind >= RecordKind::request_long;
}
constexpr bool is_medium(RecordKind kind) {
  return kind == RecordKind::request_medium || kind == RecordKind::reply_medium;
}

// Offset of the payload from the record, which lies `at` bytes behind the start of its datagram. A Medium's payload is
// handed to its handler where it lies, so it is aligned for any type.
constexpr Bytes payload_offset(RecordKind kind, unsigned arguments, Bytes size, Bytes at) {
  const Bytes head = sizeof(Record) + (has_word(kind) ? kWord : 0) + 4 * Bytes{arguments};
  if (is_medium(kind) && size != 0) return round_up(at + head, 16) - at;
  return round_up(head, 8);
}
constexpr Bytes record_bytes(RecordKind kind, unsigned arguments, Bytes size, Bytes at) {
  const Bytes payload = kind == RecordKind::get ? 0 : size;
  return round_up(payload_offset(kind, arguments, payload, at) + payload, 8);
}
// At any place.
constexpr Bytes most_record_bytes(RecordKind kind, unsigned arguments, Bytes size) {
  return record_bytes(kind, arguments, size, 0) + (is_medium(kind) ? 8 : 0);
}

// ---- fragments: one datagram each of a transfer that is larger than a datagram
enum class FragmentKind : std::uint8_t { put, found, request_medium, reply_medium, request_long, reply_long };

struct Fragment {
  std::uint32_t transfer = 0;  // counted per pair of ranks
  FragmentKind kind{};
  std::uint8_t handler = 0;
  std::uint8_t arguments = 0;  // stand behind this header if offset is 0
  std::uint8_t unused = 0;
  std::uint64_t address = 0;  // where the whole transfer goes; of a found: the identity of its get
  std::uint32_t total = 0;    // bytes of the whole transfer
  std::uint32_t offset = 0;   // of this fragment's payload in it
  std::uint64_t unused_either = 0;
};
static_assert(sizeof(Fragment) == 32);
inline constexpr Bytes kFragmentAt = sizeof(Header);
inline constexpr Bytes kFragmentPayloadAt = sizeof(Header) + sizeof(Fragment);  // without arguments

constexpr Bytes fragment_payload_at(const Fragment& head) {
  return kFragmentPayloadAt + (head.offset == 0 ? round_up(4 * Bytes{head.arguments}, 16) : 0);
}

// ---- the hash
//
// SipHash-2-4 over the header behind its tag, the header and arguments of a fragment, and the digests of a universal
// hash, one for each block of what else is covered: records, a Medium's payload, or with auth=payload that of any
// fragment. Header and lengths are the same in no two datagrams that differ, but for one that is altered on its way;
// that has the digests of the original with a probability of 2^-64, and otherwise a tag that only the key tells.
enum class Authentication : std::uint8_t { header, payload };

struct TagKey {
  // The universal hash's key is stretched from the same key: tags are hashes of more bytes than its words are.
  explicit TagKey(const HashKey& secret) : outer(secret), blocks(secret) {}

  HashKey outer;
  UniversalHash blocks;
};

// `head`: a whole datagram, or that of a fragment up to its payload, which lies `behind`.
[[nodiscard]] std::uint64_t tag_of(const TagKey& key, Authentication covers, std::span<const std::byte> head,
                                   std::span<const std::byte> behind);

// What keeps a datagram from being read any further.
enum class Verdict : std::uint8_t { genuine, malformed, foreign, stale, misdirected };

// Of a header whose hash fits.
[[nodiscard]] GASMETER_INLINE Verdict verdict_of(const Header& header, std::uint32_t session, std::uint16_t self,
                                                 std::uint32_t ranks) {
  if (header.session != session) return Verdict::stale;
  if (header.destination != self || header.source >= ranks || header.source == self) return Verdict::misdirected;
  if (header.content > Content::fragment) return Verdict::malformed;
  return Verdict::genuine;
}

// Judges an arrived datagram by its header and its hash. Inline: each one passes here.
[[nodiscard]] GASMETER_INLINE Verdict judge(const TagKey& key, Authentication covers,
                                            std::span<const std::byte> datagram, std::uint32_t session,
                                            std::uint16_t self, std::uint32_t ranks, Header& header) {
  if (datagram.size() < sizeof(Header)) return Verdict::malformed;
  std::memcpy(&header, datagram.data(), sizeof header);
  if (header.bytes < sizeof(Header) || header.bytes > datagram.size()) return Verdict::malformed;
  // Before anything is believed.
  if (tag_of(key, covers, datagram.first(header.bytes), {}) != header.tag) {
    return header.session == session ? Verdict::foreign : Verdict::stale;
  }
  return verdict_of(header, session, self, ranks);
}

// Judges a fragment without arguments by what stands before its payload, which the hash need not cover; false for
// anything else, so for a Medium's. `bytes`: all that has arrived, no more and no less than the datagram.
[[nodiscard]] bool judge_fragment(const TagKey& key, std::span<const std::byte> head, Bytes bytes,
                                  std::uint32_t session, std::uint16_t self, std::uint32_t ranks, Header& header,
                                  Fragment& fragment);

// One record of an arrived datagram, checked against its bounds.
struct RecordView {
  RecordKind kind{};
  HandlerIndex handler{};
  std::uint64_t word = 0;
  std::span<const std::int32_t> arguments;
  std::byte* payload = nullptr;
  Bytes size = 0;
  Bytes next = 0;  // offset of the record behind it
};

enum class Step : std::uint8_t { record, end, malformed };

// Reads the record at `at`.
[[nodiscard]] Step read_record(std::span<std::byte> datagram, Bytes at, RecordView& view);

// Reads the header of a fragment, checked against the datagram's length and itself.
struct FragmentView {
  Fragment head;
  std::span<const std::int32_t> arguments;
  Bytes payload_at = 0;  // offset of the payload in the datagram
  Bytes bytes = 0;       // of payload
};
[[nodiscard]] bool read_fragment(std::span<const std::byte> datagram, FragmentView& view);

}  // namespace gasmeter::networks::udp
