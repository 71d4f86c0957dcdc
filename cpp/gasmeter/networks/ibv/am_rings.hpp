// Active messages by RDMA: a rank's hot peers write them into rings of its memory, which it polls, instead of sending
// them to receives that it has to post.
//
// Who is hot its receiver finds out by itself, by counts that it halves from time to time. A ring that is granted stays
// with its peer. The protocol is that of GASNet's ibv-conduit of 2012 (README.md); the conduit posts, hands over and
// pays.
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

// The defaults are those of protocol_constants.csv, rows "AM over RDMA".
struct RingLimits {
  unsigned peers = 32;    // rings of a rank; 0: none
  unsigned depth = 16;    // slots of each, a power of two of at most 32
  unsigned cycle = 1024;  // messages from one look for hot peers to the next
};

inline constexpr Bytes kRingSlot = 4096;

// Stands before a message in its slot. Bytes arrive in order, but software may see some of them before others: a
// message is whole when both lengths and both sums agree with each other, and the sum with the message.
struct RingHeader {
  std::int16_t length = 0;
  std::int16_t length_again = -1;
  std::int16_t zeros = 0;  // bytes of the message and of `word` that are 0, as all of a free slot are
  std::int16_t zeros_again = -1;
  std::uint32_t word = 0;  // what is immediate data of a send

  [[nodiscard]] bool is_set() const { return length == length_again && zeros == zeros_again; }
};
static_assert(sizeof(RingHeader) == 12);
inline constexpr Bytes kRingFront = 16;  // the header, up to a pointer's alignment
inline constexpr Bytes kMostRinged = kRingSlot - kRingFront;

// What a peer is told of the ring that it gets: four arguments of a request. Here the key says nothing.
struct RingGrant {
  std::uint32_t pair = 0;
  std::uint32_t key = 0;
  std::uint32_t low = 0;
  std::uint32_t high = 0;
};

[[nodiscard]] unsigned zero_bytes(const std::byte* at, Bytes bytes);
[[nodiscard]] RingHeader ring_header(const std::byte* message, Bytes bytes, std::uint32_t word);

// Of the messages that come, which peers send the most.
class HotPeers {
 public:
  HotPeers(unsigned ranks, unsigned most, unsigned cycle);

  // One more small message of this peer. Peers that are hot now, the hottest first: most of the time nobody is looked
  // for.
  [[nodiscard]] std::span<const Rank> count(Rank peer);
  void stop() { counts_.clear(); }  // nobody is looked for any more

 private:
  struct Candidate {
    std::uint32_t count;
    Rank peer;
  };

  unsigned most_;
  unsigned cycle_;
  std::uint32_t messages_ = 0;
  std::uint32_t floor_ = 1;
  std::vector<std::uint32_t> counts_;  // of each rank
  std::vector<Candidate> candidates_;
  std::vector<Rank> hot_;
};

class AmRings {
 public:
  // Throws UsageError for a depth that is no power of two of at most 32.
  AmRings(unsigned ranks, const RingLimits& limits);

  // What peers write into: to be registered once.
  [[nodiscard]] std::span<std::byte> memory() const { return slots_ ? slots_->memory() : std::span<std::byte>{}; }

  // ---- the receiver's side
  // Of one more message of at most kMostRinged bytes: peers that get a ring now.
  [[nodiscard]] std::span<const Rank> count(Rank peer);
  // No more than there are rings are granted, each once.
  [[nodiscard]] std::byte* grant(Rank peer);
  [[nodiscard]] std::size_t granted() const { return granted_.size(); }

  // The slot that ring `which` is polled at.
  [[nodiscard]] Rank peer(std::size_t which) const { return granted_[which].peer; }
  [[nodiscard]] bool is_set(std::size_t which) const { return header(which).is_set(); }
  [[nodiscard]] RingHeader header(std::size_t which) const {
    RingHeader header;
    std::memcpy(&header, slot(which), sizeof header);
    return header;
  }
  [[nodiscard]] std::byte* message(std::size_t which) const { return slot(which) + sizeof(RingHeader); }
  // Of a header that is set.
  [[nodiscard]] bool is_whole(std::size_t which, const RingHeader& header) const;
  // The message's bytes are 0 again: goes on to the next slot.
  void free(std::size_t which);

  // ---- the sender's
  void granted_by(Rank peer, const RingGrant& grant);
  // Where a message of so many bytes goes; null: there is no ring, or no room in it or in a slot.
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
    std::uint32_t freed = 0;    // of which the peer has emptied these
    bool is_promised = false;   // a ring of this rank
  };

  [[nodiscard]] std::byte* slot(std::size_t which) const {
    const Granted& ring = granted_[which];
    return ring.ring + (ring.head & (depth_ - 1)) * kRingSlot;
  }

  unsigned depth_;
  unsigned unpromised_;              // rings
  std::optional<BufferPool> slots_;  // none: no ring
  std::vector<Outgoing> peers_;
  std::vector<Granted> granted_;
  std::vector<Rank> chosen_;
  HotPeers hot_;
};

}  // namespace gasmeter::networks::ibv
