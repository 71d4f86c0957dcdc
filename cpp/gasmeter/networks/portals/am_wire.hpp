// Match bits, header data and payload of what the conduit sends: who takes it is in the least four match bits, which
// are all that its match entries look at.
#pragma once

#include <cstddef>
#include <cstdint>

#include "gasmeter/base/units.hpp"
#include "gasmeter/conduit/am.hpp"
#include "gasmeter/conduit/capabilities.hpp"
#include "gasmeter/networks/portals/credits.hpp"

namespace gasmeter::networks::portals {

// Indices of the portal table (protocol_constants: 38, 39).
inline constexpr std::uint32_t kRarPortal = 38;
inline constexpr std::uint32_t kAmPortal = 39;
inline constexpr std::uint64_t kIgnored = ~std::uint64_t{15};

// The descriptors that others name, as in the paper's Table 1.
enum class Md : std::uint8_t { rar = 0, rar_am = 1, rar_src = 2, request = 3, send = 4, system = 5 };

// The four bits above: what an operation is.
enum class Kind : std::uint8_t {
  system = 0,
  put = 1,
  get = 2,
  short_message = 4,
  medium = 5,
  packed_long = 6,
  long_header = 7,  // its payload comes in a put of its own
  payload = 8,      // of a Long
};

[[nodiscard]] constexpr Kind kind_of(std::uint64_t match_bits) {
  return static_cast<Kind>((match_bits >> 4U) & 15U);
}
[[nodiscard]] constexpr std::uint64_t bits_of(Md md, Kind kind) {
  return static_cast<std::uint64_t>(md) | static_cast<std::uint64_t>(kind) << 4U;
}

// Of puts, gets and payloads: 16 bits name the operation, then come 8 for a thread, of which there is one, and 32 for
// the region of Firehose that its memory is in.
[[nodiscard]] constexpr std::uint64_t transfer_bits(Md md, Kind kind, std::uint16_t operation, std::uint32_t region) {
  return bits_of(md, kind) | std::uint64_t{operation} << 8U | std::uint64_t{region} << 32U;
}
[[nodiscard]] constexpr std::uint16_t operation_of(std::uint64_t match_bits) {
  return static_cast<std::uint16_t>(match_bits >> 8U);
}
[[nodiscard]] constexpr std::uint32_t region_of(std::uint64_t match_bits) {
  return static_cast<std::uint32_t>(match_bits >> 32U);
}

// Messages begin, and payloads lie, where any type may.
inline constexpr Bytes kAlignment = alignof(std::max_align_t);
[[nodiscard]] constexpr Bytes aligned(Bytes bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

// Of a message: above the kind come a byte of credits, the handler, the number of arguments; then where the answer
// goes, in the sender's buffers, and how much of the payload's end is padding.
struct AmBits {
  Kind kind{};
  CreditByte credits;
  std::uint8_t handler = 0;
  std::uint8_t arguments = 0;
  std::uint32_t answer = 0;  // a multiple of kAlignment
  std::uint32_t padding = 0;

  [[nodiscard]] std::uint64_t packed(Md md) const {
    return bits_of(md, kind) | std::uint64_t{credits.packed()} << 8U | std::uint64_t{handler} << 16U |
           std::uint64_t{arguments} << 24U | std::uint64_t{answer | padding} << 32U;
  }
  [[nodiscard]] static AmBits of(std::uint64_t bits) {
    const auto upper = static_cast<std::uint32_t>(bits >> 32U);
    constexpr std::uint32_t kPadding = kAlignment - 1;
    return {kind_of(bits),
            CreditByte::of(static_cast<std::uint8_t>(bits >> 8U)),
            static_cast<std::uint8_t>(bits >> 16U),
            static_cast<std::uint8_t>((bits >> 24U) & 31U),
            upper & ~kPadding,
            upper & kPadding};
  }
};

// Two arguments ride in the header data; of a Long that has its size and, where the payload comes apart, the number
// that joins both (Lid).
inline constexpr unsigned kHeaderArguments = 2;
struct LongHeader {
  std::uint32_t size = 0;
  std::uint32_t lid = 0;
};

[[nodiscard]] constexpr bool is_long(Kind kind) {
  return kind == Kind::packed_long || kind == Kind::long_header;
}
// A Long begins with its destination.
[[nodiscard]] constexpr Bytes arguments_at(bool of_long) {
  return of_long ? sizeof(std::uint64_t) : 0;
}
[[nodiscard]] constexpr Bytes header_bytes(bool of_long, unsigned arguments) {
  const unsigned in_header = of_long ? 0 : kHeaderArguments;
  return arguments_at(of_long) + (arguments > in_header ? arguments - in_header : 0) * sizeof(std::int32_t);
}
[[nodiscard]] constexpr Bytes payload_at(bool of_long, unsigned arguments) {
  return aligned(header_bytes(of_long, arguments));
}

// Of buffers for messages, of which each takes one of any kind.
inline constexpr Bytes kChunk = 2048;
inline constexpr Bytes kMostMedium = kChunk - payload_at(false, conduit::kMaxArguments);
[[nodiscard]] constexpr Bytes most_packed_long(unsigned arguments) {
  return kChunk - payload_at(true, arguments);
}
// Fits one region of Firehose wherever it begins.
inline constexpr Bytes kMostLong = Bytes{124} << 10U;

}  // namespace gasmeter::networks::portals
