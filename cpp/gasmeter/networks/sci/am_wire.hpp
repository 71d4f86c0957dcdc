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
// Ibel's buffers hold what a Long brings, up to so much.
inline constexpr Bytes kMostBounced = 4096;
inline constexpr Bytes kBounceSlotBytes = kMostHeader + kMostBounced;

// What a ready flag says.
inline constexpr std::byte kMessage{1};
inline constexpr std::byte kNoReply{2};  // the request of this number has been handled, and nothing comes back

// How a rank's slots are shared out among those who write into them.
enum class Queues : std::uint8_t {
  paired,  // each peer has slots for requests, and as many for replies, which belong to them
  ibel,    // each peer has one for its request, and all have one for their reply: Ibel's remote queue
  split,   // each peer has a circular queue of some, for requests and replies alike: Ibel's split one
};

// Of one rank: slots, and a flag for each. Paired ones have one more flag, which says that some other is set; Ibel's
// lie behind the messages that they belong to, and are numbered alike. Behind those of split queues is what peers have
// taken out of this rank's messages.
struct Layout {
  std::uint32_t ranks = 0;
  std::uint32_t pairs = 0;  // slots of requests for each peer; of split queues, all of a peer's
  Queues queues = Queues::paired;

  [[nodiscard]] std::uint32_t slots() const {
    if (queues == Queues::ibel) return ranks + 1;
    return ranks * pairs * (queues == Queues::paired ? 2 : 1);
  }
  [[nodiscard]] Bytes slot_bytes() const { return queues == Queues::paired ? kSlotBytes : kBounceSlotBytes; }
  [[nodiscard]] std::uint32_t slot(Rank sender, bool is_reply, std::uint32_t pair) const {
    if (queues == Queues::ibel) return is_reply ? ranks : index(sender);
    if (queues == Queues::split) return index(sender) * pairs + pair;
    return (index(sender) * 2 + (is_reply ? 1 : 0)) * pairs + pair;
  }
  // Of slots that say it; of Ibel's slot for replies whoever was asked last.
  [[nodiscard]] Rank sender_of(std::uint32_t slot) const {
    return Rank{queues == Queues::ibel ? slot : slot / (pairs * (queues == Queues::paired ? 2 : 1))};
  }
  [[nodiscard]] bool holds_replies(std::uint32_t slot) const {
    return queues == Queues::paired ? slot / pairs % 2 != 0 : queues == Queues::ibel && slot == ranks;
  }
  [[nodiscard]] std::uint32_t pair_of(std::uint32_t slot) const { return queues == Queues::ibel ? 0 : slot % pairs; }
  [[nodiscard]] Bytes exist_flag() const { return slots(); }
  [[nodiscard]] Bytes taken_by(Rank peer) const { return Bytes{slots()} + index(peer); }
  [[nodiscard]] Bytes command_bytes() const { return Bytes{slots()} * slot_bytes(); }
  [[nodiscard]] Bytes control_bytes() const {
    return Bytes{slots()} + (queues == Queues::paired ? 1 : queues == Queues::split ? ranks : 0);
  }
  // Flags that a poll looks at which finds none set.
  [[nodiscard]] std::uint32_t looks() const {
    return queues == Queues::paired ? 0 : queues == Queues::ibel ? slots() : ranks;
  }
};

}  // namespace gasmeter::networks::sci
