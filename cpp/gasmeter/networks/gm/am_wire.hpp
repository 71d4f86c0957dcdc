// Layout of an active message in a GM message: positions of its parts in a buffer.
#pragma once

#include <cstddef>
#include <cstdint>

#include "gasmeter/base/units.hpp"
#include "gasmeter/conduit/am.hpp"
#include "gasmeter/conduit/capabilities.hpp"
#include "gasmeter/networks/gm/event.hpp"

namespace gasmeter::networks::gm {

// All buffers have one size class, whatever a message holds. A payload that is sent apart from its header lies one page
// behind the start of the buffer.
inline constexpr SizeClass kAmSize = 16;
inline constexpr Bytes kAmBuffer = Bytes{1} << kAmSize;
inline constexpr Bytes kMostMessage = most_bytes(kAmSize);
inline constexpr Bytes kApartAt = 4096;
inline constexpr Bytes kMostLong = kAmBuffer - kApartAt;

// First word of every message.
struct AmWord {
  std::uint32_t category : 2 = 0;
  std::uint32_t is_reply : 1 = 0;
  std::uint32_t arguments : 5 = 0;
  std::uint32_t handler : 8 = 0;
  std::uint32_t packed : 1 = 0;  // the message holds a Long's payload
  std::uint32_t unused : 15 = 0;

  [[nodiscard]] conduit::Category kind() const { return static_cast<conduit::Category>(category); }
};
static_assert(sizeof(AmWord) == 4);

// Fields of a message before its arguments.
struct ShortHeader {
  AmWord word;
};
struct MediumHeader {
  AmWord word;
  std::uint32_t size = 0;
};
struct LongHeader {
  AmWord word;
  std::uint32_t size = 0;
  std::uint64_t destination = 0;
};

[[nodiscard]] constexpr Bytes arguments_at(conduit::Category category) {
  switch (category) {
    case conduit::Category::medium:
      return sizeof(MediumHeader);
    case conduit::Category::long_message:
      return sizeof(LongHeader);
    case conduit::Category::short_message:
      break;
  }
  return sizeof(ShortHeader);
}

[[nodiscard]] constexpr Bytes header_bytes(conduit::Category category, unsigned arguments) {
  return arguments_at(category) + Bytes{arguments} * sizeof(std::int32_t);
}

// The payload is aligned for any type, as the buffers are.
inline constexpr Bytes kAlignment = alignof(std::max_align_t);

[[nodiscard]] constexpr Bytes payload_at(conduit::Category category, unsigned arguments) {
  return (header_bytes(category, arguments) + kAlignment - 1) / kAlignment * kAlignment;
}
inline constexpr Bytes kMostMedium =
    kMostMessage - payload_at(conduit::Category::medium, conduit::kMaxArguments);  // with 16 arguments

// Bytes of a message that carries `size` bytes itself.
[[nodiscard]] constexpr Bytes message_bytes(conduit::Category category, unsigned arguments, Bytes size) {
  return size == 0 ? header_bytes(category, arguments) : payload_at(category, arguments) + size;
}

}  // namespace gasmeter::networks::gm
