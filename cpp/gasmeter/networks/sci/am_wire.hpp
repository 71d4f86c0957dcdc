// Layout of an active message in a slot of a command segment, and positions of slots and flags.
#pragma once

#include <cstddef>
#include <cstdint>

#include "gasmeter/base/units.hpp"
#include "gasmeter/conduit/am.hpp"
#include "gasmeter/conduit/capabilities.hpp"
#include "gasmeter/services/card_ams.hpp"

namespace gasmeter::networks::sci {

// Limits of GASNet's released sci-conduit.
inline constexpr Bytes kMostMedium = 2048;
inline constexpr Bytes kMostLong = 512 * 1024;

// Fields of a message before its arguments.
struct AmWord {
  std::uint32_t category : 2 = 0;
  std::uint32_t is_reply : 1 = 0;
  std::uint32_t arguments : 5 = 0;
  std::uint32_t handler : 8 = 0;
  std::uint32_t head : 7 = 0;  // bytes of a Long in the slot that precede those that DMA carries
  std::uint32_t tail : 7 = 0;  // bytes of a Long in the slot that follow those that DMA carries
  std::uint32_t by_dma : 1 = 0;

  [[nodiscard]] conduit::Category kind() const { return static_cast<conduit::Category>(category); }
};
static_assert(sizeof(AmWord) == 4);

struct AmHead {
  AmWord word;
  std::uint32_t size = 0;         // of the payload
  std::uint64_t destination = 0;  // of a Long; other messages do not send it
};
static_assert(sizeof(AmHead) == 16);

// A Medium's payload is used in its slot.
inline constexpr services::AmLayout kLayout{offsetof(AmHead, destination), offsetof(AmHead, destination),
                                            sizeof(AmHead)};

// The longest header, and a slot for it and the largest Medium.
inline constexpr Bytes kMostHeader = kLayout.payload_at(conduit::Category::long_message, conduit::kMaxArguments);
inline constexpr Bytes kSlotBytes = kMostHeader + kMostMedium;
static_assert(kMostHeader == 80 && kSlotBytes % services::kAlignment == 0);
// Buffers of Ibel's queues hold the payload of a Long of up to kMostBounced bytes.
inline constexpr Bytes kMostBounced = 4096;
inline constexpr Bytes kBounceSlotBytes = kMostHeader + kMostBounced;

// Values of a ready flag.
inline constexpr std::byte kMessage{1};
inline constexpr std::byte kNoReply{2};  // the request with this number has been handled without a reply

// How a rank divides its slots among its senders.
enum class Queues : std::uint8_t {
  paired,  // each peer has slots for requests and as many for their replies
  ibel,    // each peer has one slot for its request, all peers share one for replies: Ibel's remote queue
  split,   // each peer has a circular queue of slots for requests and replies alike: Ibel's split queue
};

// Layout of one rank's slots, with a flag for each slot. Paired queues have one more flag, the exist flag, which says
// that some other flag is set. Ibel's flags follow the messages that they belong to and have the same numbers. Behind
// the flags of split queues stand the counts of messages that peers have taken from this rank.
struct Layout {
  std::uint32_t ranks = 0;
  std::uint32_t pairs = 0;  // slots for requests of each peer; with split queues, all slots of a peer
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
  // Sender that owns a slot. Ibel's slot for replies has no owner: its sender is the rank that was asked last.
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
  // Flags that a poll without success reads.
  [[nodiscard]] std::uint32_t looks() const {
    return queues == Queues::paired ? 0 : queues == Queues::ibel ? slots() : ranks;
  }
};

}  // namespace gasmeter::networks::sci
