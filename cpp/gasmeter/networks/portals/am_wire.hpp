// Match bits, header data and payload of the conduit's operations. The lowest four match bits name the descriptor that
// takes an operation. The match entries compare only these bits.
#pragma once

#include <cstdint>

#include "gasmeter/base/units.hpp"
#include "gasmeter/conduit/am.hpp"
#include "gasmeter/conduit/capabilities.hpp"
#include "gasmeter/networks/portals/credits.hpp"
#include "gasmeter/services/card_ams.hpp"

namespace gasmeter::networks::portals {

// Indices of the portal table (38 and 39 in the released conduit).
inline constexpr std::uint32_t kRarPortal = 38;
inline constexpr std::uint32_t kAmPortal = 39;
inline constexpr std::uint64_t kIgnored = ~std::uint64_t{15};

// Descriptors that peers name, as in the paper's Table 1.
enum class Md : std::uint8_t { rar = 0, rar_am = 1, rar_src = 2, request = 3, send = 4, system = 5 };

// Kind of an operation: the next four bits.
enum class Kind : std::uint8_t {
  system = 0,
  put = 1,
  get = 2,
  short_message = 4,
  medium = 5,
  packed_long = 6,
  long_header = 7,  // of a Long whose payload arrives in a put of its own
  payload = 8,      // of a Long
};

[[nodiscard]] constexpr Kind kind_of(std::uint64_t match_bits) {
  return static_cast<Kind>((match_bits >> 4U) & 15U);
}
[[nodiscard]] constexpr std::uint64_t bits_of(Md md, Kind kind) {
  return static_cast<std::uint64_t>(md) | static_cast<std::uint64_t>(kind) << 4U;
}

// Match bits of puts, gets and payloads: 16 bits name the operation. Then come 8 bits for a thread (the conduit has
// one), and 32 for the Firehose region of its memory.
[[nodiscard]] constexpr std::uint64_t transfer_bits(Md md, Kind kind, std::uint16_t operation, std::uint32_t region) {
  return bits_of(md, kind) | std::uint64_t{operation} << 8U | std::uint64_t{region} << 32U;
}
[[nodiscard]] constexpr std::uint16_t operation_of(std::uint64_t match_bits) {
  return static_cast<std::uint16_t>(match_bits >> 8U);
}
[[nodiscard]] constexpr std::uint32_t region_of(std::uint64_t match_bits) {
  return static_cast<std::uint32_t>(match_bits >> 32U);
}

// Messages and payloads begin at addresses that suit any type.
using services::aligned;
using services::kAlignment;

// Match bits of a message. Above the kind stand a byte of credits, the handler and the number of arguments. Then come
// the answer's place in the sender's buffers, and the padding at the payload's end.
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

// Two arguments travel in the header data. The header data of a Long hold its size and, if the payload has a put of its
// own, the number that joins both (Lid).
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

// Size of a message buffer. Each buffer holds one message of any kind.
inline constexpr Bytes kChunk = 2048;
inline constexpr Bytes kMostMedium = kChunk - payload_at(false, conduit::kMaxArguments);
[[nodiscard]] constexpr Bytes most_packed_long(unsigned arguments) {
  return kChunk - payload_at(true, arguments);
}
// The largest Long fits one Firehose region, wherever it begins.
inline constexpr Bytes kMostLong = Bytes{124} << 10U;

}  // namespace gasmeter::networks::portals
