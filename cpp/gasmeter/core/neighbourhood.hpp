// Ranks of one node. Each maps the segments of the others and exchanges active messages with them through rings,
// whatever conduit carries other messages. A conduit may be a neighbourhood that holds every rank.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "gasmeter/base/units.hpp"
#include "gasmeter/conduit/counts.hpp"
#include "gasmeter/core/lock.hpp"
#include "gasmeter/core/ring.hpp"

namespace gasmeter::core {

// Layout of the block of memory that a neighbourhood shares. All of it starts zeroed.
// barrier lines [rank][round] | bells [rank] | rings [from][to][request, reply] | segments [rank], page aligned
struct NeighbourhoodLayout {
  std::uint32_t ranks = 1;
  Bytes ring_bytes = 0;
  Bytes segment_bytes = 0;

  static constexpr Bytes kPage = 4096;
  static constexpr std::uint32_t kBarrierRounds = 16;  // for 65536 ranks

  // Few ranks have rings of 256 KiB (a Medium of 64 KiB and more). With many ranks, the rings of one rank together
  // stay near 1 MiB. No ring is below 16 KiB (a Medium of more than 5 KiB).
  [[nodiscard]] static NeighbourhoodLayout of(std::uint32_t ranks, Bytes segment_bytes) {
    const Bytes share = std::bit_floor(Bytes{1024 * 1024} / std::max<Bytes>(ranks, 1));
    return {ranks, std::clamp<Bytes>(share, 16 * 1024, 256 * 1024), ring::round_up(segment_bytes, kPage)};
  }

  [[nodiscard]] Bytes barrier_line(std::uint32_t rank, std::uint32_t round) const {
    return (Bytes{rank} * kBarrierRounds + round) * kNoSharing;
  }
  // Words with one bit for each ring that a rank receives from.
  [[nodiscard]] std::uint32_t bell_words() const { return (2 * ranks + 63) / 64; }
  [[nodiscard]] Bytes bell_at(std::uint32_t rank) const {
    return barrier_line(ranks, 0) + Bytes{rank} * ring::round_up(Bytes{8} * bell_words(), kNoSharing);
  }
  [[nodiscard]] Bytes ring_at(std::uint32_t from, std::uint32_t to, bool reply) const {
    const Bytes number = (Bytes{from} * ranks + to) * 2 + (reply ? 1 : 0);
    return ring::round_up(bell_at(ranks), kPage) + number * ring::footprint(ring_bytes);
  }
  [[nodiscard]] Bytes segment_at(std::uint32_t rank) const {
    return ring::round_up(ring_at(ranks, 0, false), kPage) + Bytes{rank} * segment_bytes;
  }
  [[nodiscard]] Bytes total() const { return segment_at(ranks); }
};

template <class H>
class Neighbourhood {
 public:
  // State of a rank for each neighbour, itself included. Senders and receivers are this rank's ends of the rings.
  struct Link {
    RingSender requests_out;
    RingReceiver requests_in;
    RingSender replies_out;
    RingReceiver replies_in;
    [[no_unique_address]] MaybeLock<H::kThreads> request_lock;
    [[no_unique_address]] MaybeLock<H::kThreads> reply_lock;
    Rank rank{};
  };

  // `first` is the lowest rank of the neighbourhood, whose ranks are consecutive. `block` is zeroed memory of
  // layout.total() bytes.
  Neighbourhood(std::byte* block, const NeighbourhoodLayout& layout, Rank first, Rank self)
      : first_(index(first)),
        count_(layout.ranks),
        at_once_(layout.ranks),
        prepare_requests_(layout.ranks),
        prepare_replies_(layout.ranks),
        links_(layout.ranks),
        self_(index(self) - index(first)),
        block_(block),
        layout_(layout) {
    deltas_.resize(layout.ranks);
    for (std::uint32_t peer = 0; peer < layout.ranks; ++peer) {
      Link& link = links_[peer];
      link.rank = Rank{first_ + peer};
      link.requests_out = RingSender(ring_memory(self_, peer, false));
      link.requests_in = RingReceiver(ring_memory(peer, self_, false));
      link.replies_out = RingSender(ring_memory(self_, peer, true));
      link.replies_in = RingReceiver(ring_memory(peer, self_, true));
    }
  }

  // Set the address at which the neighbour's own process sees its segment, so that its addresses can be translated.
  void set_owner_address(std::uint32_t neighbour, const std::byte* address) {
    deltas_[neighbour] = (block_ + layout_.segment_at(neighbour)) - address;
    aligned_ = std::all_of(deltas_.begin(), deltas_.end(), [](std::ptrdiff_t delta) { return delta == 0; });
  }

  [[nodiscard]] GASMETER_INLINE bool holds(Rank rank) const { return index(rank) - first_ < count_; }

  // Return the neighbour's link; null for other ranks.
  [[nodiscard]] GASMETER_INLINE Link* link(Rank rank) {
    const std::uint32_t neighbour = index(rank) - first_;
    return GASMETER_LIKELY(neighbour < count_) ? &links_[neighbour] : nullptr;
  }

  // Return the link for a request that may be sent at once; null, too, if every injection polls first.
  [[nodiscard]] GASMETER_INLINE Link* link_at_once(Rank rank) {
    const std::uint32_t neighbour = index(rank) - first_;
    return GASMETER_LIKELY(neighbour < at_once_) ? &links_[neighbour] : nullptr;
  }
  // Return the link for a request or reply that may be prepared in its record at once.
  [[nodiscard]] GASMETER_INLINE Link* link_to_prepare(Rank rank, bool is_request) {
    const std::uint32_t neighbour = index(rank) - first_;
    return GASMETER_LIKELY(neighbour < (is_request ? prepare_requests_ : prepare_replies_)) ? &links_[neighbour]
                                                                                            : nullptr;
  }
  void poll_first(bool on) {
    at_once_ = on ? 0 : count_;
    prepare_requests_ = std::min(at_once_, prepare_replies_);
  }
  void prepare_in_records(bool on) {
    prepare_replies_ = on ? count_ : 0;
    prepare_requests_ = std::min(at_once_, prepare_replies_);
  }
  [[nodiscard]] GASMETER_INLINE bool polls_first() const { return at_once_ != count_; }

  // In virtual time bells tell a rank which rings hold messages. A real rank looks into all rings, since a bell line
  // that all neighbours write would cost each message more.
  static constexpr bool kBells = H::kModelled;
  static constexpr std::uint32_t kSilent = UINT32_MAX;
  static constexpr std::uint32_t bell_of(std::uint32_t from, bool requests) { return 2 * from + (requests ? 1 : 0); }
  // Note that this rank has put a record into a ring to the neighbour.
  GASMETER_INLINE void ring_bell(const Link& to, bool request) const {
    if constexpr (kBells) {
      const std::uint32_t bell = bell_of(self_, request);
      bells(index(to.rank) - first_)[bell / 64] |= std::uint64_t{1} << (bell % 64);
    }
  }
  // Return this rank's first bell from `bell` on that has rung. Replies come before requests.
  [[nodiscard]] GASMETER_INLINE std::uint32_t next_bell(std::uint32_t bell) const {
    const std::uint64_t* const words = bells(self_);
    const std::uint32_t end = layout_.bell_words();
    std::uint64_t mask = ~std::uint64_t{0} << (bell % 64);
    for (std::uint32_t word = bell / 64; word < end; ++word, mask = ~std::uint64_t{0}) {
      if (const std::uint64_t rung = words[word] & mask; rung != 0) {
        return word * 64 + static_cast<std::uint32_t>(std::countr_zero(rung));
      }
    }
    return kSilent;
  }
  // Note that the ring is empty.
  GASMETER_INLINE void silence(std::uint32_t bell) const {
    bells(self_)[bell / 64] &= ~(std::uint64_t{1} << (bell % 64));
  }

  // Return a neighbour's address as this rank sees it; null for other ranks.
  [[nodiscard]] GASMETER_INLINE void* map(Rank rank, const void* owner_address) const {
    const std::uint32_t neighbour = index(rank) - first_;
    if (GASMETER_UNLIKELY(neighbour >= count_)) return nullptr;
    // A predicted branch replaces two dependent loads in front of every put and get.
    if (GASMETER_LIKELY(aligned_)) return const_cast<void*>(owner_address);
    return const_cast<std::byte*>(static_cast<const std::byte*>(owner_address)) + deltas_[neighbour];
  }

  // Return the difference between this rank's address of a neighbour's memory and the neighbour's own.
  [[nodiscard]] const std::ptrdiff_t& shift(Rank rank) const { return deltas_[index(rank) - first_]; }

  [[nodiscard]] Rank first() const { return Rank{first_}; }
  // Tell whether every neighbour's own addresses are valid here, too.
  [[nodiscard]] bool is_aligned() const { return aligned_; }
  [[nodiscard]] std::byte* segment(std::uint32_t neighbour) const { return block_ + layout_.segment_at(neighbour); }
  [[nodiscard]] std::vector<Link>& links() { return links_; }
  [[nodiscard]] std::uint32_t ranks() const { return layout_.ranks; }
  // Add the counts of this rank's ends of the rings.
  void add_to(conduit::Counts& counts) const {
    for (const Link& link : links_) {
      counts.add(conduit::Count::ring_messages, link.requests_in.messages() + link.replies_in.messages());
      counts.add(conduit::Count::ring_bytes, link.requests_out.position() + link.replies_out.position());
      counts.add(conduit::Count::ring_stalls, link.requests_out.stalls() + link.replies_out.stalls());
    }
  }
  [[nodiscard]] std::uint32_t self() const { return self_; }
  [[nodiscard]] Rank rank_of(std::uint32_t neighbour) const { return Rank{first_ + neighbour}; }
  [[nodiscard]] const NeighbourhoodLayout& layout() const { return layout_; }

  [[nodiscard]] std::atomic_ref<std::uint64_t> barrier_word(std::uint32_t neighbour, std::uint32_t round) const {
    return std::atomic_ref<std::uint64_t>(
        *reinterpret_cast<std::uint64_t*>(block_ + layout_.barrier_line(neighbour, round)));
  }

 private:
  [[nodiscard]] GASMETER_INLINE std::uint64_t* bells(std::uint32_t neighbour) const {
    return reinterpret_cast<std::uint64_t*>(block_ + layout_.bell_at(neighbour));
  }
  [[nodiscard]] ring::Memory ring_memory(std::uint32_t from, std::uint32_t to, bool reply) const {
    return {block_ + layout_.ring_at(from, to, reply), layout_.ring_bytes};
  }

  // Members that every put, get and message reads, in one cache line.
  alignas(kCacheLine) std::uint32_t first_;
  std::uint32_t count_;
  std::uint32_t at_once_;           // count_, or 0 if requests to neighbours must take the path that polls first
  std::uint32_t prepare_requests_;  // the same for prepared requests; also 0 if np_am has its reference form
  std::uint32_t prepare_replies_;
  bool aligned_ = false;  // every neighbour maps the block at this rank's address
  std::vector<Link> links_;
  std::vector<std::ptrdiff_t> deltas_;

  std::uint32_t self_;
  std::byte* block_;
  NeighbourhoodLayout layout_;
};

}  // namespace gasmeter::core
