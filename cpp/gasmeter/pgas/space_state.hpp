// State that the parts of a shared space share on one rank.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "gasmeter/base/platform.hpp"
#include "gasmeter/core/endpoint.hpp"
#include "gasmeter/core/internals.hpp"
#include "gasmeter/core/lock.hpp"
#include "gasmeter/pgas/access/address_cache.hpp"
#include "gasmeter/pgas/access/pinned_table.hpp"
#include "gasmeter/pgas/counters.hpp"
#include "gasmeter/pgas/directory/directory.hpp"
#include "gasmeter/pgas/directory/segment_parts.hpp"
#include "gasmeter/pgas/options.hpp"

namespace gasmeter::pgas {

// Nodes of ranks. Ranks of a node are consecutive, and all nodes have the same number; otherwise each rank is a node.
class Nodes {
 public:
  void set(std::uint32_t mates) {
    mates_ = mates;
    shift_ = std::has_single_bit(mates) ? static_cast<unsigned>(std::countr_zero(mates)) : kNoShift;
  }
  [[nodiscard]] GASMETER_INLINE std::uint32_t of(Rank rank) const {
    return GASMETER_LIKELY(shift_ != kNoShift) ? index(rank) >> shift_ : index(rank) / mates_;
  }
  [[nodiscard]] GASMETER_INLINE std::uint32_t mate(Rank rank) const { return index(rank) - of(rank) * mates_; }
  [[nodiscard]] std::uint32_t mates() const { return mates_; }

 private:
  static constexpr unsigned kNoShift = 64;
  std::uint32_t mates_ = 1;
  unsigned shift_ = 0;
};

template <class H>
struct SpaceState {
  SpaceState(core::Endpoint<H>& ep, const SpaceOptions& asked)
      : endpoint(ep),
        options(asked),
        near_first(asked.near == Near::direct ? index(core::internals(ep).near().first()) : index(ep.rank())),
        near_ranks(asked.near == Near::direct ? ep.neighbours() : 1),
        directory(ep.ranks()),
        parts(asked.first, ep.segment().size, near_first),
        cache(asked.capacity, asked.replacement, asked.seed ^ index(ep.rank())),
        pinned(core::internals(ep).conduit()) {}
  SpaceState(const SpaceState&) = delete;
  SpaceState& operator=(const SpaceState&) = delete;

  // Tell whether the rank's parts are loaded and stored directly.
  [[nodiscard]] GASMETER_INLINE bool is_near(Rank rank) const { return index(rank) - near_first < near_ranks; }
  // Return the node of a part. Parts of collective objects have equal offsets on a node; others are keyed by their
  // rank.
  [[nodiscard]] GASMETER_INLINE std::uint32_t node_of(Handle object, Rank owner) const {
    return GASMETER_LIKELY(object.partition == directory.all()) ? nodes.of(owner) : index(owner);
  }
  // Return the piece, in its node's part, of a byte of a rank's part.
  [[nodiscard]] GASMETER_INLINE std::uint32_t chunk_of(Handle object, Rank owner, Bytes part, Bytes offset) const {
    if (GASMETER_LIKELY(options.pinning == Pinning::everything)) return 0;
    const Bytes before = object.partition == directory.all() ? Bytes{nodes.mate(owner)} * part : 0;
    return static_cast<std::uint32_t>((before + offset) / options.chunk);
  }
  // Return the memory of this rank's part that lies in a piece.
  [[nodiscard]] std::span<std::byte> piece_of(Handle object, const Object& record, std::uint32_t chunk) const {
    const std::span<std::byte> part(address(endpoint.rank(), record.base), record.part);
    if (options.pinning == Pinning::everything) return part;
    const Bytes before = object.partition == directory.all() ? Bytes{nodes.mate(endpoint.rank())} * record.part : 0;
    const Bytes begin = std::max(before, chunk * options.chunk);
    const Bytes end = std::min(before + record.part, (chunk + Bytes{1}) * options.chunk);
    return part.subspan(begin - before, end - begin);
  }
  [[nodiscard]] AddressCache::Key key_of(Handle object, Rank owner, std::uint32_t chunk) const {
    return {object.bits(), node_of(object, owner), chunk};
  }
  [[nodiscard]] GASMETER_INLINE std::byte* address(Rank rank, Bytes base) const {
    return endpoint.segment(rank).address + base;
  }

  core::Endpoint<H>& endpoint;
  SpaceOptions options;
  std::uint32_t near_first;
  std::uint32_t near_ranks;
  Nodes nodes;
  Directory directory;
  SegmentParts parts;
  AddressCache cache;
  PinnedTable pinned;
  SpaceCounters counters;
  // Guards directory, cache and table if handlers may run beside the rank's own calls.
  [[no_unique_address]] core::MaybeLock<H::kThreads> lock;
};

}  // namespace gasmeter::pgas
