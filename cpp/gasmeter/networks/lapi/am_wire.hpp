// Layout of an active message in an Amsend: the contents of its user header. A Medium's payload is in the user header
// if both fit LAPI's limit. Other payload is the message's data.
#pragma once

#include <cstddef>
#include <cstdint>

#include "gasmeter/base/units.hpp"
#include "gasmeter/conduit/am.hpp"
#include "gasmeter/conduit/capabilities.hpp"
#include "gasmeter/networks/lapi/packet.hpp"

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

[[nodiscard]] constexpr Bytes arguments_at(conduit::Category category) {
  return category == conduit::Category::long_message ? sizeof(LongHeader) : sizeof(AmWord);
}
[[nodiscard]] constexpr Bytes header_bytes(conduit::Category category, unsigned arguments) {
  return arguments_at(category) + Bytes{arguments} * sizeof(std::int32_t);
}

inline constexpr Bytes kMostHeader = header_bytes(conduit::Category::long_message, conduit::kMaxArguments);
static_assert(kMostHeader <= kMostUserHeader);

// Offset of a Medium's payload, which is aligned for any type, as the buffers are.
inline constexpr Bytes kAlignment = alignof(std::max_align_t);
[[nodiscard]] constexpr Bytes payload_at(unsigned arguments) {
  return (header_bytes(conduit::Category::medium, arguments) + kAlignment - 1) / kAlignment * kAlignment;
}
[[nodiscard]] constexpr bool is_inlined(conduit::Category category, unsigned arguments, Bytes size) {
  return category == conduit::Category::medium && size != 0 && payload_at(arguments) + size <= kMostUserHeader;
}

}  // namespace gasmeter::networks::lapi
