// Layout of an active message in an Amsend: the contents of its user header. A Medium's payload is in the user header
// if both fit LAPI's limit. Other payload is the message's data.
#pragma once

#include <cstdint>

#include "gasmeter/base/units.hpp"
#include "gasmeter/conduit/am.hpp"
#include "gasmeter/conduit/capabilities.hpp"
#include "gasmeter/networks/lapi/packet.hpp"
#include "gasmeter/services/card_ams.hpp"

namespace gasmeter::networks::lapi {

struct AmWord {
  std::uint32_t category : 2 = 0;
  std::uint32_t is_reply : 1 = 0;
  std::uint32_t arguments : 5 = 0;
  std::uint32_t handler : 8 = 0;
  std::uint32_t inlined : 1 = 0;  // a Medium's payload fills the rest of the user header
  std::uint32_t unused : 15 = 0;

  [[nodiscard]] conduit::Category kind() const { return static_cast<conduit::Category>(category); }
};
static_assert(sizeof(AmWord) == 4);

// Fields before the arguments of a Long. Other messages have only the word.
struct LongHeader {
  AmWord word;
  std::uint32_t unused = 0;
  std::uint64_t destination = 0;
};
inline constexpr services::AmLayout kLayout{sizeof(AmWord), sizeof(AmWord), sizeof(LongHeader)};

inline constexpr Bytes kMostHeader = kLayout.header_bytes(conduit::Category::long_message, conduit::kMaxArguments);
static_assert(kMostHeader <= kMostUserHeader);

// Offset of a Medium's payload.
[[nodiscard]] constexpr Bytes payload_at(unsigned arguments) {
  return kLayout.payload_at(conduit::Category::medium, arguments);
}
[[nodiscard]] constexpr bool is_inlined(conduit::Category category, unsigned arguments, Bytes size) {
  return category == conduit::Category::medium && size != 0 && payload_at(arguments) + size <= kMostUserHeader;
}

}  // namespace gasmeter::networks::lapi
