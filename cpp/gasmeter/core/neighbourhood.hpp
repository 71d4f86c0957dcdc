// Ranks of one node: each maps the others' segments and exchanges active messages with them through rings, whatever
// conduit carries the rest. A conduit may be a neighbourhood that holds every rank.
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

// Where things lie in the block of memory that a neighbourhood shares. Everything starts zeroed.
//   barrier lines [rank][round] | bells [rank] | rings [from][to][request, reply] | segments [rank], page aligned
struct NeighbourhoodLayout {
  std::uint32_t ranks = 1;
  Bytes ring_bytes = 0;
  Bytes segment_bytes = 0;

  static constexpr Bytes kPage = 4096;
  static constexpr std::uint32_t kBarrierRounds = 16;  // 65536 ranks

  // Rings of 256 KiB for few ranks (a Medium of 64 KiB and more); with many ranks the rings of one rank together stay
  // near 1 MiB, and none falls below 16 KiB (a Medium of more than 5 KiB).
  [[nodiscard]] static NeighbourhoodLayout of(std::uint32_t ranks, Bytes segment_bytes) {
    const Bytes share = std::bit_floor(Bytes{1024 * 1024} / std::max<Bytes>(ranks, 1));
    return {ranks, std::clamp<Bytes>(share, 16 * 1024, 256 * 1024), ring::round_up(segment_bytes, kPage)};
  }

  [[nodiscard]] Bytes barrier_line(std::uint32_t rank, std::uint32_t round) const {
    return (Bytes{rank} * kBarrierRounds + round) * kNoSharing;
  }
  // A bit for each ring that a rank receives from.
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
  // What one rank keeps per neighbour (itself included). Senders and receivers are this rank's own ends.
  struct Link {
    RingSender requests_out;
    RingReceiver requests_in;
    RingSender replies_out;
    RingReceiver replies_in;
    [[no_unique_address]] MaybeLock<H::kThreads> request_lock;
    [[no_unique_address]] MaybeLock<H::kThreads> reply_lock;
    Rank rank{};
  };

  // `first`: the lowest rank of the neighbourhood; its ranks are consecutive. `block`: zeroed memory of layout.total()
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

  // Tells where the neighbour's own process sees its segment, so that its addresses can be translated.
  void set_owner_address(std::uint32_t neighbour, const std::byte* address) {
    deltas_[neighbour] = (block_ + layout_.segment_at(neighbour)) - address;
    aligned_ = std::all_of(deltas_.begin(), deltas_.end(), [](std::ptrdiff_t delta) { return delta == 0; });
  }

  [[nodiscard]] GASMETER_INLINE bool holds(Rank rank) const { return index(rank) - first_ < count_; }

  // The neighbour's link; null for a rank outside.
  [[nodiscard]] GASMETER_INLINE Link* link(Rank rank) {
    const std::uint32_t neighbour = index(rank) - first_;
    return GASMETER_LIKELY(neighbour < count_) ? &links_[neighbour] : nullptr;
  }

  // The same of a request that may go at once: null, too, where every injection polls first.
  [[nodiscard]] GASMETER_INLINE Link* link_at_once(Rank rank) {
    const std::uint32_t neighbour = index(rank) - first_;
    return GASMETER_LIKELY(neighbour < at_once_) ? &links_[neighbour] : nullptr;
  }
  // ... of a request or reply that may be prepared in its record at once.
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

  // A rank in virtual time hears which of its rings have something for it; a real one looks into all of them, since a
  // line that all neighbours write would cost each message more than that.
  static constexpr bool kBells = H::kModelled;
  static constexpr std::uint32_t kSilent = UINT32_MAX;
  static constexpr std::uint32_t bell_of(std::uint32_t from, bool requests) { return 2 * from + (requests ? 1 : 0); }
  // This rank has put something into a ring to the neighbour.
  GASMETER_INLINE void ring_bell(const Link& to, bool request) const {
    if constexpr (kBells) {
      const std::uint32_t bell = bell_of(self_, request);
      bells(index(to.rank) - first_)[bell / 64] |= std::uint64_t{1} << (bell % 64);
    }
  }
  // This rank's first bell from `bell` on that has rung; its replies come before its requests.
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
  // Nothing is left in that ring.
  GASMETER_INLINE void silence(std::uint32_t bell) const {
    bells(self_)[bell / 64] &= ~(std::uint64_t{1} << (bell % 64));
  }

  // The neighbour's address as seen here; null for a rank outside.
  [[nodiscard]] GASMETER_INLINE void* map(Rank rank, const void* owner_address) const {
    const std::uint32_t neighbour = index(rank) - first_;
    if (GASMETER_UNLIKELY(neighbour >= count_)) return nullptr;
    // A predicted branch instead of two dependent loads in front of every put and get.
    if (GASMETER_LIKELY(aligned_)) return const_cast<void*>(owner_address);
    return const_cast<std::byte*>(static_cast<const std::byte*>(owner_address)) + deltas_[neighbour];
  }

  // How much further a neighbour's own addresses are here.
  [[nodiscard]] const std::ptrdiff_t& shift(Rank rank) const { return deltas_[index(rank) - first_]; }

  [[nodiscard]] Rank first() const { return Rank{first_}; }
  // Every neighbour's own addresses are good here, too.
  [[nodiscard]] bool is_aligned() const { return aligned_; }
  [[nodiscard]] std::byte* segment(std::uint32_t neighbour) const { return block_ + layout_.segment_at(neighbour); }
  [[nodiscard]] std::vector<Link>& links() { return links_; }
  [[nodiscard]] std::uint32_t ranks() const { return layout_.ranks; }
  // What this rank's ends of the rings have seen.
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

  // What every put, get and message looks at, in one cache line.
  alignas(kCacheLine) std::uint32_t first_;
  std::uint32_t count_;
  std::uint32_t at_once_;           // count_, or 0: requests to neighbours take the way on which they poll first
  std::uint32_t prepare_requests_;  // the same of those that are prepared, and 0, too, where none has its record then
  std::uint32_t prepare_replies_;
  bool aligned_ = false;  // every neighbour maps the block where this rank does
  std::vector<Link> links_;
  std::vector<std::ptrdiff_t> deltas_;

  std::uint32_t self_;
  std::byte* block_;
  NeighbourhoodLayout layout_;
};

}  // namespace gasmeter::core
