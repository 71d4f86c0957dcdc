// Layout of an active message in a GM message: positions of its parts in a buffer.
#pragma once

#include <cstdint>

#include "gasmeter/base/units.hpp"
#include "gasmeter/conduit/am.hpp"
#include "gasmeter/conduit/capabilities.hpp"
#include "gasmeter/networks/gm/event.hpp"
#include "gasmeter/services/card_ams.hpp"

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

// Fields of a message before its arguments. A Short has only the word.
struct MediumHeader {
  AmWord word;
  std::uint32_t size = 0;
};
struct LongHeader {
  AmWord word;
  std::uint32_t size = 0;
  std::uint64_t destination = 0;
};

inline constexpr services::AmLayout kLayout{sizeof(AmWord), sizeof(MediumHeader), sizeof(LongHeader)};
inline constexpr Bytes kMostMedium =
    kMostMessage - kLayout.payload_at(conduit::Category::medium, conduit::kMaxArguments);  // with 16 arguments

}  // namespace gasmeter::networks::gm
