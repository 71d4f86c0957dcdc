// One rank's view of a shared space: objects that all ranks may name, whose addresses only their owners know, and
// accesses to them.
//
// Explicitly instantiated for RealHost, ThreadedHost, StampedHost and sim::ModelHost. What a hit and a near access need
// stands here, inline; the rest in space.cpp, access/ and directory/. Calls belong to one thread of a rank, none is
// made in a handler or within an access region.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <vector>

#include "gasmeter/base/platform.hpp"
#include "gasmeter/core/endpoint.hpp"
#include "gasmeter/pgas/access/puts_under_way.hpp"
#include "gasmeter/pgas/access/uncached.hpp"
#include "gasmeter/pgas/agreement.hpp"
#include "gasmeter/pgas/directory/notices.hpp"
#include "gasmeter/pgas/layout.hpp"
#include "gasmeter/pgas/locks.hpp"
#include "gasmeter/pgas/space_state.hpp"

namespace gasmeter::pgas {

template <class H>
class SharedSpace {
 public:
  using Endpoint = core::Endpoint<H>;
  using Event = core::Event;
  using LocalCompletion = core::LocalCompletion;

  // With the same options at all ranks. Waits for nobody. The endpoint outlives it, and has one space in its life.
  explicit SharedSpace(Endpoint& endpoint, const SpaceOptions& options = {});
  SharedSpace(const SharedSpace&) = delete;
  SharedSpace& operator=(const SharedSpace&) = delete;

  // Bytes of each segment that so many parts (Layout::part(), or what is allocated) take, in any order.
  [[nodiscard]] static Bytes segment_bytes(std::initializer_list<Bytes> parts, Bytes first = 0);
  // ... `many` of the same size.
  [[nodiscard]] static Bytes segment_bytes(Bytes part, std::uint64_t many, Bytes first = 0);

  [[nodiscard]] Endpoint& endpoint() { return state_.endpoint; }
  [[nodiscard]] Rank rank() const { return state_.endpoint.rank(); }
  [[nodiscard]] std::uint32_t ranks() const { return state_.endpoint.ranks(); }
  [[nodiscard]] const SpaceOptions& options() const { return state_.options; }
  [[nodiscard]] const SpaceCounters& counters() const { return state_.counters; }
  // Entries in use of this rank's cache, and of its table of pinned memory.
  [[nodiscard]] std::uint32_t entries() const { return state_.cache.size(); }
  [[nodiscard]] std::uint64_t pins() const { return state_.pinned.size(); }

  // ---- objects. Where a segment has no room all ranks throw of what they make together, the caller of the others.
  // Memory is not cleared.
  [[nodiscard]] Handle all_alloc(const Layout& layout);     // collective
  [[nodiscard]] Handle global_alloc(const Layout& layout);  // this rank alone makes it, all have parts
  [[nodiscard]] Handle alloc(Bytes bytes);                  // ... and has it alone
  // Nobody may be at it any more. Its cache entries are gone everywhere before its memory is given again.
  void all_free(Handle object);  // collective; of what all have made
  void free(Handle object);      // by any one rank; whoever made it
  // Collective. Every rank brings a number; all learn the least and the largest.
  Extremes agree(std::uint64_t value) { return agreement_.meet(value); }
  // Bytes of a part; 0 of a rank without one. Throws UsageError for what was freed or never made.
  [[nodiscard]] Bytes part(Handle object, Rank owner) const;

  // ---- accesses: `bytes` of the owner's part, from byte `offset` of it on. A relaxed access sees what this rank has
  // put there before. Throws UsageError, of one line, for freed objects and bytes that are not the object's.
  GASMETER_INLINE void get(Handle object, Rank owner, Bytes offset, void* to, Bytes bytes) {
    state_.endpoint.host().charge(core::PrivatePrice::shared_access);
    if (state_.is_near(owner)) {
      if (std::byte* const at = near(object, owner, offset, bytes)) {
        ++state_.counters.local_accesses;
        state_.endpoint.get(owner, to, at, bytes);
        return;
      }
    }
    const SimTime start = begin_wait();
    puts_.before(object, owner, offset, bytes);
    if (std::byte* const at = hit(object, owner, offset, bytes)) {
      state_.endpoint.get(owner, to, at, bytes);
    } else {
      Event event = get_asked(object, owner, offset, to, bytes);
      state_.endpoint.wait(event);
    }
    end_wait(start);
  }
  // Returns with local completion: the source may change. fence() waits until it is seen.
  GASMETER_INLINE void put(Handle object, Rank owner, Bytes offset, const void* from, Bytes bytes) {
    state_.endpoint.host().charge(core::PrivatePrice::shared_access);
    if (state_.is_near(owner)) {
      if (std::byte* const at = near(object, owner, offset, bytes)) {
        ++state_.counters.local_accesses;
        state_.endpoint.put(owner, at, from, bytes);
        return;
      }
    }
    const SimTime start = begin_wait();
    puts_.before(object, owner, offset, bytes);
    std::byte* const at = state_.options.cached_puts ? hit(object, owner, offset, bytes) : passed_by();
    puts_.add(object, owner, offset, bytes,
              at != nullptr ? state_.endpoint.put_nb(owner, at, from, bytes, LocalCompletion::now())
                            : put_asked(object, owner, offset, from, bytes, LocalCompletion::now()));
    end_wait(start);
  }
  // Without a wait for the data, or the target; a rendezvous waits for its clearance. Of these `waits` counts nothing,
  // and nothing orders them with other accesses of this rank to the same bytes.
  [[nodiscard]] Event get_nb(Handle object, Rank owner, Bytes offset, void* to, Bytes bytes);
  [[nodiscard]] Event put_nb(Handle object, Rank owner, Bytes offset, const void* from, Bytes bytes,
                             LocalCompletion local = LocalCompletion::defer());
  void wait(Event& event) { state_.endpoint.wait(event); }

  // Where bytes of an owner's part lie in its segment, for the core's own operations there (atomics): known, found in
  // the cache, or asked for. Within one piece where pieces are pinned. This rank's puts to them are seen before.
  [[nodiscard]] std::byte* place(Handle object, Rank owner, Bytes offset, Bytes bytes);

  // All puts of this rank that get and put have begun are seen by everybody [UPC: upc_fence].
  void fence() { puts_.wait_for_all(); }
  void barrier() {
    fence();
    state_.endpoint.barrier();
  }
  // [UPC: strict]: behind what this rank has done before, and seen before what it does next.
  void get_strict(Handle object, Rank owner, Bytes offset, void* to, Bytes bytes) {
    fence();
    get(object, owner, offset, to, bytes);
  }
  void put_strict(Handle object, Rank owner, Bytes offset, const void* from, Bytes bytes) {
    fence();
    put(object, owner, offset, from, bytes);
    fence();
  }

  // The owner's part where this rank can load and store it; null elsewhere. Throws as an access.
  [[nodiscard]] std::byte* local(Handle object, Rank owner);
  [[nodiscard]] std::byte* local(Handle object) { return local(object, rank()); }

  // ---- locks [UPC: upc_lock_t]: objects that were allocated for it, of any size; taken in the order in which they are
  // asked for. What this rank has put before is seen by whoever takes it next.
  void lock(Handle lock) { locks_.lock(lock); }
  [[nodiscard]] bool try_lock(Handle lock) { return locks_.try_lock(lock); }
  void unlock(Handle lock) {
    fence();
    locks_.unlock(lock);
  }

 private:
  [[nodiscard]] GASMETER_INLINE std::byte* near(Handle object, Rank owner, Bytes offset, Bytes bytes) {
    const Object* const found = state_.directory.find(object);
    if (GASMETER_LIKELY(found != nullptr && found->base != kNowhere && found->has_part(owner) &&
                        found->holds(offset, bytes)) &&
        (object.partition == state_.directory.all() || found->owner == index(owner) || owner == rank())) {
      return state_.address(owner, found->base + offset);
    }
    return nullptr;  // whoever asks the owner finds out what is wrong
  }
  // The address in the owner's memory; null: it has to be asked.
  [[nodiscard]] GASMETER_INLINE std::byte* hit(Handle object, Rank owner, Bytes offset, Bytes bytes) {
    SpaceCounters& counters = state_.counters;
    ++counters.remote_accesses;
    if (GASMETER_UNLIKELY(state_.options.cache != CacheUse::on || state_.options.pinning != Pinning::everything)) {
      return hit_otherwise(object, owner, offset, bytes);
    }
    const std::lock_guard guard(state_.lock);
    state_.endpoint.host().charge(core::PrivatePrice::address_look_up);
    ++counters.lookups;
    counters.entries += state_.cache.size();
    counters.pins += state_.pinned.size();
    const AddressCache::Entry* const entry = state_.cache.find({object.bits(), state_.node_of(object, owner), 0});
    if (GASMETER_LIKELY(entry != nullptr) && GASMETER_LIKELY(entry->holds(offset, bytes) && index(owner) < ranks())) {
      ++counters.hits;
      return state_.address(owner, entry->base + offset);
    }
    return nullptr;
  }
  [[nodiscard]] std::byte* passed_by() {
    ++state_.counters.remote_accesses;
    return nullptr;
  }
  // With pieces, or in one of the other modes.
  [[nodiscard]] std::byte* hit_otherwise(Handle object, Rank owner, Bytes offset, Bytes bytes);
  [[nodiscard]] Event get_asked(Handle object, Rank owner, Bytes offset, void* to, Bytes bytes);
  [[nodiscard]] Event put_asked(Handle object, Rank owner, Bytes offset, const void* from, Bytes bytes,
                                LocalCompletion local);
  [[nodiscard]] std::byte* look_up(Handle object, Rank owner, Bytes offset, Bytes bytes, std::uint32_t chunk);
  // Calls ask(target, bytes before it) for each piece of the owner's part, or reach(address, bytes before it, bytes).
  template <class Ask, class Reach>
  [[nodiscard]] Event in_pieces(const char* call, Handle object, Rank owner, Bytes offset, Bytes bytes, bool cached,
                                Ask ask, Reach reach);
  // Throws unless the object is there and the bytes are the owner's.
  const Object& require(const char* call, Handle object, Rank owner, Bytes offset, Bytes bytes) const;

  [[nodiscard]] GASMETER_INLINE SimTime begin_wait() {
    if constexpr (H::kModelled) return state_.endpoint.host().now();
    return {};
  }
  GASMETER_INLINE void end_wait(SimTime start) {
    if constexpr (H::kModelled) {
      state_.counters.waits_ps += static_cast<std::uint64_t>((state_.endpoint.host().now() - start).ps);
    }
  }
  void learn_nodes();

  SpaceState<H> state_;
  Agreement<H> agreement_;
  Notices<H> notices_;
  Uncached<H> uncached_;
  PutsUnderWay<H> puts_;
  Locks<H> locks_;
  bool knows_nodes_ = false;
};

}  // namespace gasmeter::pgas
