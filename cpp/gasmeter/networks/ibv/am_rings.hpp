// Active messages by RDMA. Hot peers write their messages into rings of a rank's memory. The rank polls the rings, and
// posts no receives for these messages.
//
// A receiver finds its hot peers by counts of messages, which it halves from time to time. A granted ring stays with
// its peer. The protocol is that of GASNet's ibv-conduit of 2012 (README.md). The conduit posts, delivers and pays.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

#include "gasmeter/base/buffer_pool.hpp"
#include "gasmeter/networks/ibv/am_wire.hpp"

namespace gasmeter::networks::ibv {

// The defaults are those of GASNet's ibv-conduit of 2012, whose name for the rings is "AM over RDMA".
struct RingLimits {
  unsigned peers = 32;    // rings of a rank; 0: none
  unsigned depth = 16;    // slots of each, a power of two of at most 32
  unsigned cycle = 1024;  // messages from one search for hot peers to the next
};

inline constexpr Bytes kRingSlot = 4096;

// Header of a message in its slot. Bytes arrive in order, but software may see some before others. A message is
// complete when both lengths agree, both sums agree, and the sum matches the message.
struct RingHeader {
  std::int16_t length = 0;
  std::int16_t length_again = -1;
  std::int16_t zeros = 0;  // bytes of the message and of `word` that are 0, as in a free slot
  std::int16_t zeros_again = -1;
  std::uint32_t word = 0;  // immediate data, as a send has

  [[nodiscard]] bool is_set() const { return length == length_again && zeros == zeros_again; }
};
static_assert(sizeof(RingHeader) == 12);
inline constexpr Bytes kRingFront = 16;  // the header, up to a pointer's alignment
inline constexpr Bytes kMostRinged = kRingSlot - kRingFront;

// Description of a ring for the peer that gets it: four arguments of a request. The model does not use the key.
struct RingGrant {
  std::uint32_t pair = 0;
  std::uint32_t key = 0;
  std::uint32_t low = 0;
  std::uint32_t high = 0;
};

[[nodiscard]] unsigned zero_bytes(const std::byte* at, Bytes bytes);
[[nodiscard]] RingHeader ring_header(const std::byte* message, Bytes bytes, std::uint32_t word);

// Search for the peers that send the most messages.
class HotPeers {
 public:
  HotPeers(unsigned ranks, unsigned most, unsigned cycle);

  // Count a small message of this peer. Return the peers that are hot now, the hottest first. Most calls do not search
  // and return none.
  [[nodiscard]] std::span<const Rank> count(Rank peer);
  void stop() { counts_.clear(); }  // the search ends for good

 private:
  struct Candidate {
    std::uint32_t count;
    Rank peer;
  };

  unsigned most_;
  unsigned cycle_;
  std::uint32_t messages_ = 0;
  std::uint32_t floor_ = 1;
  std::vector<std::uint32_t> counts_;  // by rank
  std::vector<Candidate> candidates_;
  std::vector<Rank> hot_;
};

class AmRings {
 public:
  // Throws UsageError for a depth that is not a power of two of at most 32.
  AmRings(unsigned ranks, const RingLimits& limits);

  // Memory that peers write into, registered once.
  [[nodiscard]] std::span<std::byte> memory() const { return slots_ ? slots_->memory() : std::span<std::byte>{}; }

  // ---- the receiver's side
  // Count a message of at most kMostRinged bytes. Return the peers that get a ring now.
  [[nodiscard]] std::span<const Rank> count(Rank peer);
  // Grant a ring. The number of grants is limited by the number of rings, and a peer gets one at most.
  [[nodiscard]] std::byte* grant(Rank peer);
  [[nodiscard]] std::size_t granted() const { return granted_.size(); }

  // ---- the slot at which ring `which` is polled
  [[nodiscard]] Rank peer(std::size_t which) const { return granted_[which].peer; }
  [[nodiscard]] bool is_set(std::size_t which) const { return header(which).is_set(); }
  [[nodiscard]] RingHeader header(std::size_t which) const {
    RingHeader header;
    std::memcpy(&header, slot(which), sizeof header);
    return header;
  }
  [[nodiscard]] std::byte* message(std::size_t which) const { return slot(which) + sizeof(RingHeader); }
  // Tell whether a message with a set header has arrived completely.
  [[nodiscard]] bool is_whole(std::size_t which, const RingHeader& header) const;
  // Free the slot, whose message is filled with zeros again, and go on to the next slot.
  void free(std::size_t which);

  // ---- the sender's side
  void granted_by(Rank peer, const RingGrant& grant);
  // Return the place for a message of `bytes` bytes, or null if there is no ring, no free slot, or too little room.
  [[nodiscard]] std::byte* take(Rank peer, Bytes bytes);
  void acknowledged(Rank peer, unsigned slots) { peers_[index(peer)].freed += slots; }

 private:
  struct Granted {
    Rank peer{};
    std::byte* ring = nullptr;
    std::uint32_t head = 0;
  };
  struct Outgoing {
    std::byte* ring = nullptr;  // at the peer
    std::uint32_t tail = 0;     // slots taken
    std::uint32_t freed = 0;    // slots that the peer has emptied since
    bool is_promised = false;   // of a ring of this rank
  };

  [[nodiscard]] std::byte* slot(std::size_t which) const {
    const Granted& ring = granted_[which];
    return ring.ring + (ring.head & (depth_ - 1)) * kRingSlot;
  }

  unsigned depth_;
  unsigned unpromised_;              // rings that no peer has
  std::optional<BufferPool> slots_;  // none: the rank has no rings
  std::vector<Outgoing> peers_;
  std::vector<Granted> granted_;
  std::vector<Rank> chosen_;
  HotPeers hot_;
};

}  // namespace gasmeter::networks::ibv
