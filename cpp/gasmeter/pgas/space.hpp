// One rank's view of a shared space: objects that all ranks can name, but whose addresses only their owners know, and
// accesses to them.
//
// Instantiated for RealHost, ThreadedHost, StampedHost and sim::ModelHost. The code of a hit and of a near access is
// inline here. The rest is in space.cpp, access/ and directory/. One thread of a rank makes all calls, outside
// handlers and access regions.
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

  // Make a space with the same options at all ranks, without waiting. The endpoint must outlive it and has one space
  // in its life.
  explicit SharedSpace(Endpoint& endpoint, const SpaceOptions& options = {});
  SharedSpace(const SharedSpace&) = delete;
  SharedSpace& operator=(const SharedSpace&) = delete;

  // Return the bytes of each segment that these parts (Layout::part(), or sizes allocated) take, in any order.
  [[nodiscard]] static Bytes segment_bytes(std::initializer_list<Bytes> parts, Bytes first = 0);
  // Return the same for `many` parts of one size.
  [[nodiscard]] static Bytes segment_bytes(Bytes part, std::uint64_t many, Bytes first = 0);

  [[nodiscard]] Endpoint& endpoint() { return state_.endpoint; }
  [[nodiscard]] Rank rank() const { return state_.endpoint.rank(); }
  [[nodiscard]] std::uint32_t ranks() const { return state_.endpoint.ranks(); }
  [[nodiscard]] const SpaceOptions& options() const { return state_.options; }
  [[nodiscard]] const SpaceCounters& counters() const { return state_.counters; }
  // Number of entries in use of this rank's cache, and of pieces pinned.
  [[nodiscard]] std::uint32_t entries() const { return state_.cache.size(); }
  [[nodiscard]] std::uint64_t pins() const { return state_.pinned.size(); }

  // ---- objects. If a segment has no room, all ranks throw in collective calls, otherwise the caller. Memory is not
  // cleared.
  [[nodiscard]] Handle all_alloc(const Layout& layout);     // collective
  [[nodiscard]] Handle global_alloc(const Layout& layout);  // made by this rank alone, with parts at all ranks
  [[nodiscard]] Handle alloc(Bytes bytes);                  // made by this rank alone, with a part here only
  // No rank may access the object any more. Its cache entries are gone everywhere before its memory is used again.
  void all_free(Handle object);  // collective, for objects made collectively
  void free(Handle object);      // for any object; one rank calls it, not necessarily its maker
  // Return the least and the largest of the numbers that all ranks pass. The call is collective.
  Extremes agree(std::uint64_t value) { return agreement_.meet(value); }
  // Return the bytes of a part; 0 for a rank without one. Throw UsageError for an object that was freed or never made.
  [[nodiscard]] Bytes part(Handle object, Rank owner) const;

  // ---- accesses to `bytes` bytes of the owner's part, from `offset` on. A relaxed access sees this rank's earlier
  // puts. Accesses throw UsageError, in one line, for freed objects and for bytes outside the object.
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
  // Put, and return at local completion: the source may change. fence() waits until the data are visible.
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
  // Start a transfer without waiting for data or target; a rendezvous waits for its clearance. `waits` does not count
  // these calls. No order holds between them and other accesses of this rank to the same bytes.
  [[nodiscard]] Event get_nb(Handle object, Rank owner, Bytes offset, void* to, Bytes bytes);
  [[nodiscard]] Event put_nb(Handle object, Rank owner, Bytes offset, const void* from, Bytes bytes,
                             LocalCompletion local = LocalCompletion::defer());
  void wait(Event& event) { state_.endpoint.wait(event); }

  // Return the address of bytes in the owner's segment, for core's own operations there (atomics). The address is
  // known, cached, or requested. If pieces are pinned, the bytes must lie in one piece. This rank's earlier puts to
  // them are visible.
  [[nodiscard]] std::byte* place(Handle object, Rank owner, Bytes offset, Bytes bytes);

  // Wait until all puts of this rank by put() are visible to all ranks [UPC: upc_fence].
  void fence() { puts_.wait_for_all(); }
  void barrier() {
    fence();
    state_.endpoint.barrier();
  }
  // Strict accesses [UPC: strict]: ordered after all earlier accesses of this rank, and visible before its later ones.
  void get_strict(Handle object, Rank owner, Bytes offset, void* to, Bytes bytes) {
    fence();
    get(object, owner, offset, to, bytes);
  }
  void put_strict(Handle object, Rank owner, Bytes offset, const void* from, Bytes bytes) {
    fence();
    put(object, owner, offset, from, bytes);
    fence();
  }

  // Return the owner's part if this rank can load and store it, else null. Throws like an access.
  [[nodiscard]] std::byte* local(Handle object, Rank owner);
  [[nodiscard]] std::byte* local(Handle object) { return local(object, rank()); }

  // ---- locks [UPC: upc_lock_t]: objects allocated for the purpose, of any size. They are granted in the order of
  // requests. The next holder sees this rank's earlier puts.
  void lock(Handle lock) { locks_.lock(lock); }
  [[nodiscard]] bool try_lock(Handle lock) { return locks_.try_lock(lock); }
  void unlock(Handle lock) {
    fence();
    locks_.unlock(lock);
  }

 private:
  [[nodiscard]] GASMETER_INLINE std::byte* near(Handle object, Rank owner, Bytes offset, Bytes bytes) {
    const Object* const record = state_.directory.find(object);
    if (GASMETER_LIKELY(record != nullptr && record->base != kNowhere && record->has_part(owner) &&
                        record->holds(offset, bytes)) &&
        (object.partition == state_.directory.all() || record->owner == index(owner) || owner == rank())) {
      return state_.address(owner, record->base + offset);
    }
    return nullptr;  // the request to the owner reports the error
  }
  // Return the cached address in the owner's memory; null: the owner must be asked.
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
  // Return the cached address with pinned pieces, or in the other modes of the cache.
  [[nodiscard]] std::byte* hit_otherwise(Handle object, Rank owner, Bytes offset, Bytes bytes);
  [[nodiscard]] Event get_asked(Handle object, Rank owner, Bytes offset, void* to, Bytes bytes);
  [[nodiscard]] Event put_asked(Handle object, Rank owner, Bytes offset, const void* from, Bytes bytes,
                                LocalCompletion local);
  [[nodiscard]] std::byte* look_up(Handle object, Rank owner, Bytes offset, Bytes bytes, std::uint32_t chunk);
  // For each piece of the owner's part call ask(target, bytes before it), or reach(address, bytes before it, bytes).
  template <class Ask, class Reach>
  [[nodiscard]] Event in_pieces(const char* call, Handle object, Rank owner, Bytes offset, Bytes bytes, bool cached,
                                Ask ask, Reach reach);
  // Return the object. Throw unless it is there and the bytes are in the owner's part.
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
