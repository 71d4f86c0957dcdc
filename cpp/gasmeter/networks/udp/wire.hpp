// Layout of the udp conduit's datagrams, byte for byte (little-endian).
//
//   header, 48 B | records (messages, small puts, gets), each a multiple of 8 B
//   header, 48 B | fragment header, 32 B | arguments (first fragment of a message) | payload
//
// The keyed hash covers every byte except the payload of fragments of puts, gets and Longs. Option auth=payload adds
// that payload. The header names the sender, which the receiver believes once the hash fits.
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
inline constexpr std::uint8_t kAcknowledgeNow = 1;  // the sender waits for the acknowledgement
inline constexpr std::uint8_t kMovesData = 2;       // holds puts or answers to gets, to be applied first

struct Header {
  std::uint64_t tag = 0;      // keyed hash of all covered bytes behind it
  std::uint32_t session = 0;  // number of the run; a datagram of another run is stale
  std::uint16_t source = 0;   // ranks
  std::uint16_t destination = 0;
  std::uint64_t sequence = 0;      // counts per pair of ranks; means nothing with Content::nothing
  std::uint64_t acknowledged = 0;  // every sequence below this number has arrived
  std::uint64_t selective = 0;     // bit i: sequence acknowledged + 1 + i has arrived
  std::uint16_t bytes = 0;         // length of the datagram
  Content content = Content::nothing;
  std::uint8_t flags = 0;
  std::uint32_t handled = 0;  // handed-over requests of the destination, in bytes of RequestCredit
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
  put,  // address, data
  get,  // address, identity of the get
  got,  // identity of the get, data: the answer to a small get
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

// Arguments follow the record of a Short or Medium. An 8-byte word precedes them in a Long, a put and a get.
constexpr Bytes kWord = 8;

constexpr bool has_word(RecordKind kind) {
  return kind >= RecordKind::request_long;
}
constexpr bool is_medium(RecordKind kind) {
  return kind == RecordKind::request_medium || kind == RecordKind::reply_medium;
}

// Return the offset of the payload from the record, which lies `at` bytes behind the start of its datagram. A handler
// reads a Medium's payload in the datagram, so it is aligned for any type.
constexpr Bytes payload_offset(RecordKind kind, unsigned arguments, Bytes size, Bytes at) {
  const Bytes head = sizeof(Record) + (has_word(kind) ? kWord : 0) + 4 * Bytes{arguments};
  if (is_medium(kind) && size != 0) return round_up(at + head, 16) - at;
  return round_up(head, 8);
}
constexpr Bytes record_bytes(RecordKind kind, unsigned arguments, Bytes size, Bytes at) {
  const Bytes payload = kind == RecordKind::get ? 0 : size;
  return round_up(payload_offset(kind, arguments, payload, at) + payload, 8);
}
// Return the largest size of a record, whatever its offset.
constexpr Bytes most_record_bytes(RecordKind kind, unsigned arguments, Bytes size) {
  return record_bytes(kind, arguments, size, 0) + (is_medium(kind) ? 8 : 0);
}

// ---- fragments: datagrams of a transfer that is larger than a datagram
enum class FragmentKind : std::uint8_t { put, got, request_medium, reply_medium, request_long, reply_long };

struct Fragment {
  std::uint32_t transfer = 0;  // counted per pair of ranks
  FragmentKind kind{};
  std::uint8_t handler = 0;
  std::uint8_t arguments = 0;  // number of arguments behind this header if offset is 0
  std::uint8_t unused = 0;
  std::uint64_t address = 0;  // destination of the whole transfer; for `got` the identity of its get
  std::uint32_t total = 0;    // bytes of the whole transfer
  std::uint32_t offset = 0;   // offset of this fragment's payload in the transfer
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
// SipHash-2-4 covers the header behind its tag, a fragment's header and arguments, and digests of blocks. A universal
// hash makes a digest of each block of the other covered bytes: records, a Medium's payload, or with auth=payload that
// of any fragment. Two different datagrams never have the same header and lengths, unless one is altered on its way. An
// altered datagram has the digests of the original with a probability of 2^-64. Otherwise its tag can be computed only
// with the key.
enum class Authentication : std::uint8_t { header, payload };

struct TagKey {
  // The universal hash's key is stretched from the same key. That is safe because tags are hashes of more bytes than
  // its words are.
  explicit TagKey(const HashKey& secret) : outer(secret), blocks(secret) {}

  HashKey outer;
  UniversalHash blocks;
};

// Return the tag of a datagram. `head` is a whole datagram, or a fragment up to its payload, which is `behind`.
[[nodiscard]] std::uint64_t tag_of(const TagKey& key, Authentication covers, std::span<const std::byte> head,
                                   std::span<const std::byte> behind);

// Verdict on a datagram: accepted, or the reason to drop it.
enum class Verdict : std::uint8_t { genuine, malformed, foreign, stale, misdirected };

// Judge a header whose hash fits.
[[nodiscard]] GASMETER_INLINE Verdict verdict_of(const Header& header, std::uint32_t session, std::uint16_t self,
                                                 std::uint32_t ranks) {
  if (header.session != session) return Verdict::stale;
  if (header.destination != self || header.source >= ranks || header.source == self) return Verdict::misdirected;
  if (header.content > Content::fragment) return Verdict::malformed;
  return Verdict::genuine;
}

// Judge an arrived datagram by its header and its hash. Inline, because each datagram passes through this function.
[[nodiscard]] GASMETER_INLINE Verdict judge(const TagKey& key, Authentication covers,
                                            std::span<const std::byte> datagram, std::uint32_t session,
                                            std::uint16_t self, std::uint32_t ranks, Header& header) {
  if (datagram.size() < sizeof(Header)) return Verdict::malformed;
  std::memcpy(&header, datagram.data(), sizeof header);
  if (header.bytes < sizeof(Header) || header.bytes > datagram.size()) return Verdict::malformed;
  // The hash is checked before any other field is believed.
  if (tag_of(key, covers, datagram.first(header.bytes), {}) != header.tag) {
    return header.session == session ? Verdict::foreign : Verdict::stale;
  }
  return verdict_of(header, session, self, ranks);
}

// Judge a fragment without arguments before its payload is received. Returns false for everything else, also for
// Mediums, whose payload the hash covers. `bytes` is the length of the arrived datagram, which must match the header's.
[[nodiscard]] bool judge_fragment(const TagKey& key, std::span<const std::byte> head, Bytes bytes,
                                  std::uint32_t session, std::uint16_t self, std::uint32_t ranks, Header& header,
                                  Fragment& fragment);

// Record of an arrived datagram, checked against its bounds.
struct RecordView {
  RecordKind kind{};
  HandlerIndex handler{};
  std::uint64_t word = 0;
  std::span<const std::int32_t> arguments;
  std::byte* payload = nullptr;
  Bytes size = 0;
  Bytes next = 0;  // offset of the next record
};

enum class Step : std::uint8_t { record, end, malformed };

// Read the record at offset `at`.
[[nodiscard]] Step read_record(std::span<std::byte> datagram, Bytes at, RecordView& view);

// Header of a fragment, checked against the datagram's length and itself.
struct FragmentView {
  Fragment head;
  std::span<const std::int32_t> arguments;
  Bytes payload_at = 0;  // offset of the payload in the datagram
  Bytes bytes = 0;       // length of the payload
};
[[nodiscard]] bool read_fragment(std::span<const std::byte> datagram, FragmentView& view);

}  // namespace gasmeter::networks::udp
