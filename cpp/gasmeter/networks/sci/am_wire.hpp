// An active message as it lies in a slot of a command segment, and where slots and flags lie.
#pragma once

#include <cstddef>
#include <cstdint>

#include "gasmeter/base/units.hpp"
#include "gasmeter/conduit/am.hpp"
#include "gasmeter/conduit/capabilities.hpp"

namespace gasmeter::networks::sci {

// Limits of GASNet's sci-conduit (protocol_constants.csv, rows sci-conduit).
inline constexpr Bytes kMostMedium = 2048;
inline constexpr Bytes kMostLong = 512 * 1024;

// What stands before the arguments.
struct AmWord {
  std::uint32_t category : 2 = 0;
  std::uint32_t is_reply : 1 = 0;
  std::uint32_t arguments : 5 = 0;
  std::uint32_t handler : 8 = 0;
  std::uint32_t head : 7 = 0;  // bytes of a Long that lie in the slot and go before what DMA has brought
  std::uint32_t tail : 7 = 0;  // likewise, behind it
  std::uint32_t by_dma : 1 = 0;

  [[nodiscard]] conduit::Category kind() const { return static_cast<conduit::Category>(category); }
};
static_assert(sizeof(AmWord) == 4);

struct AmHead {
  AmWord word;
  std::uint32_t size = 0;         // of the payload
  std::uint64_t destination = 0;  // of a Long; of others it is not sent
};
static_assert(sizeof(AmHead) == 16);

inline constexpr Bytes kAlignment = alignof(std::max_align_t);

[[nodiscard]] constexpr Bytes arguments_at(conduit::Category category) {
  return category == conduit::Category::long_message ? sizeof(AmHead) : offsetof(AmHead, destination);
}
[[nodiscard]] constexpr Bytes header_bytes(conduit::Category category, unsigned arguments) {
  return arguments_at(category) + Bytes{arguments} * sizeof(std::int32_t);
}
// Aligned for any type, as a Medium's payload is used where it lies.
[[nodiscard]] constexpr Bytes payload_at(conduit::Category category, unsigned arguments) {
  return (header_bytes(category, arguments) + kAlignment - 1) / kAlignment * kAlignment;
}

// The longest header and the largest Medium.
inline constexpr Bytes kMostHeader = payload_at(conduit::Category::long_message, conduit::kMaxArguments);
inline constexpr Bytes kSlotBytes = kMostHeader + kMostMedium;
static_assert(kMostHeader == 80 && kSlotBytes % kAlignment == 0);

// What a ready flag says.
inline constexpr std::byte kMessage{1};
inline constexpr std::byte kNoReply{2};  // the request of this number has been handled, and nothing comes back

// Of one rank: for each other, its request slots and then as many for its replies; a flag for each of those, and
// behind all of them the one that says that there is something.
struct Layout {
  std::uint32_t ranks = 0;
  std::uint32_t pairs = 0;  // of a request's and a reply's slot, for each rank

  [[nodiscard]] std::uint32_t slots() const { return ranks * 2 * pairs; }
  [[nodiscard]] std::uint32_t slot(Rank sender, bool is_reply, std::uint32_t pair) const {
    return (index(sender) * 2 + (is_reply ? 1 : 0)) * pairs + pair;
  }
  [[nodiscard]] Rank sender_of(std::uint32_t slot) const { return Rank{slot / (2 * pairs)}; }
  [[nodiscard]] bool is_reply(std::uint32_t slot) const { return slot / pairs % 2 != 0; }
  [[nodiscard]] std::uint32_t pair_of(std::uint32_t slot) const { return slot % pairs; }
  [[nodiscard]] Bytes exist_flag() const { return slots(); }
  [[nodiscard]] Bytes command_bytes() const { return Bytes{slots()} * kSlotBytes; }
  [[nodiscard]] Bytes control_bytes() const { return Bytes{slots()} + 1; }
};

}  // namespace gasmeter::networks::sci
