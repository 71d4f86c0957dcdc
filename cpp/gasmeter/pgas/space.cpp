#include "gasmeter/pgas/space.hpp"

#include <algorithm>
#include <string>

#include "gasmeter/base/error.hpp"
#include "gasmeter/base/random.hpp"
#include "gasmeter/base/real_host.hpp"
#include "gasmeter/sim/engine/model_host.hpp"

namespace gasmeter::pgas {
namespace {

const SpaceOptions& checked(const SpaceOptions& options) {
  check(options);
  return options;
}

}  // namespace

template <class H>
SharedSpace<H>::SharedSpace(Endpoint& endpoint, const SpaceOptions& options)
    : state_(endpoint, checked(options)),
      agreement_(endpoint),
      notices_(state_),
      uncached_(state_),
      puts_(endpoint),
      locks_(state_) {}

template <class H>
Bytes SharedSpace<H>::segment_bytes(std::initializer_list<Bytes> parts, Bytes first) {
  constexpr const char* kWhat = "shared space: bytes of a segment";
  Bytes sum = checked_sum(kWhat, first, SegmentParts::kAlignment + SegmentParts::kStagger);
  for (const Bytes part : parts) sum = checked_sum(kWhat, sum, SegmentParts::room(part));
  return sum;
}

template <class H>
Bytes SharedSpace<H>::segment_bytes(Bytes part, std::uint64_t many, Bytes first) {
  constexpr const char* kWhat = "shared space: bytes of a segment";
  return checked_sum(kWhat, segment_bytes({}, first), checked_product(kWhat, many, SegmentParts::room(part)));
}

// ---- objects

// Learn which ranks share a node. All nodes must have as many ranks as the fullest, except the last; otherwise each
// rank counts as a node.
template <class H>
void SharedSpace<H>::learn_nodes() {
  knows_nodes_ = true;
  const auto most = static_cast<std::uint32_t>(agreement_.meet(state_.near_ranks).most);
  if (most == 1) return;
  const bool fits =
      state_.near_first % most == 0 && (state_.near_ranks == most || state_.near_first + state_.near_ranks == ranks());
  if (agreement_.meet(fits ? 1 : 0).least == 1) state_.nodes.set(most);
}

// Allocate an object at all ranks. The second meeting separates the memory given back here from objects that a faster
// rank frees next.
template <class H>
Handle SharedSpace<H>::all_alloc(const Layout& layout) {
  if (!knows_nodes_) learn_nodes();
  std::uint64_t asked = splitmix64(layout.elements());
  for (const std::uint64_t value : {std::uint64_t{layout.element()}, layout.block(), std::uint64_t{layout.ranks()}}) {
    asked = splitmix64(asked ^ value);
  }
  const Extremes all = agreement_.meet(asked);
  if (all.least != all.most) {
    throw UsageError("rank " + std::to_string(index(rank())) + ": all_alloc of " + std::to_string(layout.elements()) +
                     " elements of " + std::to_string(layout.element()) + " bytes in blocks of " +
                     std::to_string(layout.block()) + "; another rank asks for other ones");
  }
  notices_.give_back_common();
  std::optional<Bytes> base;
  Handle object;
  {
    const std::lock_guard guard(state_.lock);
    base = state_.parts.take_common(layout.part());
    object = state_.directory.next(state_.directory.all());
    state_.directory.add(object, {layout.part(), base.value_or(kNowhere), kEveryRank});
  }
  // The object is added before the meeting ends, since the first rank that leaves the meeting may access it at once.
  if (agreement_.meet(base ? 1 : 0).least == 1) return object;
  const std::lock_guard guard(state_.lock);
  (void)state_.directory.invalidate(object);
  (void)state_.directory.release(object);
  if (base) state_.parts.give_back(*base, layout.part());
  throw UsageError("rank " + std::to_string(index(rank())) + ": all_alloc of " + std::to_string(layout.part()) +
                   " bytes at each rank; a segment has no room for them, this one of " +
                   std::to_string(state_.endpoint.segment().size) + " bytes has " +
                   std::to_string(state_.parts.left()) + " left");
}

template <class H>
Handle SharedSpace<H>::global_alloc(const Layout& layout) {
  return notices_.make(layout.part(), true);
}

template <class H>
Handle SharedSpace<H>::alloc(Bytes bytes) {
  return notices_.make(bytes, false);
}

template <class H>
void SharedSpace<H>::all_free(Handle object) {
  fence();
  const Extremes all = agreement_.meet(object.bits());
  const bool can = all.least == all.most && object.partition == state_.directory.all() && notices_.forget(object);
  // All caches have dropped the object when this meeting ends.
  if (agreement_.meet(can ? 1 : 0).least == 0) {
    throw UsageError("rank " + std::to_string(index(rank())) + ": all_free of " +
                     name_of(object, state_.directory.ranks()) +
                     ", which was freed, was not made by all, or is another one than another rank's");
  }
  notices_.release(object);
}

template <class H>
void SharedSpace<H>::free(Handle object) {
  fence();
  notices_.free(object);
}

template <class H>
Bytes SharedSpace<H>::part(Handle object, Rank owner) const {
  const Object& record = require("part", object, owner, 0, 0);
  return record.has_part(owner) ? record.part : 0;
}

template <class H>
const Object& SharedSpace<H>::require(const char* call, Handle object, Rank owner, Bytes offset, Bytes bytes) const {
  const auto refuse = [&](const std::string& why) {
    throw UsageError("rank " + std::to_string(index(state_.endpoint.rank())) + ": " + call + " of " +
                     name_of(object, state_.directory.ranks()) + why);
  };
  const Object* const record = state_.directory.find(object);
  if (record == nullptr) refuse(", which was freed, or never made");
  if (index(owner) >= state_.endpoint.ranks()) {
    refuse(" at rank " + std::to_string(index(owner)) + "; ranks are 0.." +
           std::to_string(state_.endpoint.ranks() - 1));
  }
  const bool is_query = bytes == 0 && offset == 0;
  if (!is_query && !record->has_part(owner)) {
    refuse(" at rank " + std::to_string(index(owner)) + ", which has no part of it");
  }
  if (!record->holds(offset, bytes)) {
    refuse(": " + std::to_string(bytes) + " bytes at byte " + std::to_string(offset) + " of a part of " +
           std::to_string(record->part) + " bytes");
  }
  return *record;
}

// ---- accesses

template <class H>
std::byte* SharedSpace<H>::look_up(Handle object, Rank owner, Bytes offset, Bytes bytes, std::uint32_t chunk) {
  const std::lock_guard guard(state_.lock);
  state_.endpoint.host().charge(core::PrivatePrice::address_look_up);
  SpaceCounters& counters = state_.counters;
  ++counters.lookups;
  counters.entries += state_.cache.size();
  counters.pins += state_.pinned.size();
  const AddressCache::Entry* const entry = state_.cache.find(state_.key_of(object, owner, chunk));
  if (entry == nullptr || state_.options.cache == CacheUse::miss) return nullptr;
  if (!entry->holds(offset, bytes) || index(owner) >= ranks()) return nullptr;
  ++counters.hits;
  return state_.address(owner, entry->base + offset);
}

template <class H>
std::byte* SharedSpace<H>::hit_otherwise(Handle object, Rank owner, Bytes offset, Bytes bytes) {
  if (state_.options.cache == CacheUse::off) return nullptr;
  if (state_.options.pinning == Pinning::everything) return look_up(object, owner, offset, bytes, 0);
  const Object& record = require("access", object, owner, offset, bytes);
  const std::uint32_t chunk = state_.chunk_of(object, owner, record.part, offset);
  if (bytes != 0 && chunk != state_.chunk_of(object, owner, record.part, offset + bytes - 1)) return nullptr;
  return look_up(object, owner, offset, bytes, chunk);
}

template <class H>
std::byte* SharedSpace<H>::place(Handle object, Rank owner, Bytes offset, Bytes bytes) {
  puts_.before(object, owner, offset, bytes);
  if (state_.is_near(owner)) {
    if (std::byte* const at = near(object, owner, offset, bytes)) {
      ++state_.counters.local_accesses;
      return at;
    }
  }
  const SimTime start = begin_wait();
  std::byte* at = hit(object, owner, offset, bytes);
  if (at == nullptr) {
    const Bytes part = require("place", object, owner, offset, bytes).part;
    const bool keeps = state_.options.cache != CacheUse::off;
    const Target target{object, owner, offset, bytes, part, state_.chunk_of(object, owner, part, offset), keeps};
    at = state_.address(owner, uncached_.meet(target) + offset);
  }
  end_wait(start);
  return at;
}

// Split an access into pieces. Several pieces are looked up one by one, a single one has been looked up before. All
// pieces are in flight together, and all but the last are waited for.
template <class H>
template <class Ask, class Reach>
core::Event SharedSpace<H>::in_pieces(const char* call, Handle object, Rank owner, Bytes offset, Bytes bytes,
                                      bool cached, Ask ask, Reach reach) {
  const Bytes part = require(call, object, owner, offset, bytes).part;
  if (bytes == 0) return Event::done();
  const std::uint32_t last = state_.chunk_of(object, owner, part, offset + bytes - 1);
  Target target{object, owner, offset, bytes, part, state_.chunk_of(object, owner, part, offset), cached};
  if (target.chunk == last) return ask(target, 0);
  std::vector<Event> events;
  for (Bytes done = 0; done < bytes; done += target.bytes) {
    target.offset = offset + done;
    target.chunk = state_.chunk_of(object, owner, part, target.offset);
    target.bytes = 1;
    const auto is_inside = [&](Bytes size) {
      return state_.chunk_of(object, owner, part, target.offset + size - 1) == target.chunk;
    };
    // Find the largest size that stays in this chunk.
    Bytes least = 1;
    for (Bytes most = bytes - done; least < most;) {
      const Bytes middle = least + (most - least + 1) / 2;
      is_inside(middle) ? least = middle : most = middle - 1;
    }
    target.bytes = least;
    std::byte* const at = cached ? look_up(object, owner, target.offset, target.bytes, target.chunk) : nullptr;
    events.push_back(at != nullptr ? reach(at, done, target.bytes) : ask(target, done));
  }
  const Event end = events.back();
  events.pop_back();
  state_.endpoint.wait_all(events);
  return end;
}

template <class H>
core::Event SharedSpace<H>::get_asked(Handle object, Rank owner, Bytes offset, void* to, Bytes bytes) {
  auto* const first = static_cast<std::byte*>(to);
  return in_pieces(
      "get", object, owner, offset, bytes, state_.options.cache != CacheUse::off,
      [&](const Target& target, Bytes done) { return uncached_.get(target, first + done); },
      [&](std::byte* at, Bytes done, Bytes size) { return state_.endpoint.get_nb(owner, first + done, at, size); });
}

template <class H>
core::Event SharedSpace<H>::put_asked(Handle object, Rank owner, Bytes offset, const void* from, Bytes bytes,
                                      LocalCompletion local) {
  const auto* const first = static_cast<const std::byte*>(from);
  return in_pieces(
      "put", object, owner, offset, bytes, state_.options.cache != CacheUse::off && state_.options.cached_puts,
      [&](const Target& target, Bytes done) { return uncached_.put(target, first + done, local); },
      [&](std::byte* at, Bytes done, Bytes size) {
        return state_.endpoint.put_nb(owner, at, first + done, size, local);
      });
}

template <class H>
core::Event SharedSpace<H>::get_nb(Handle object, Rank owner, Bytes offset, void* to, Bytes bytes) {
  state_.endpoint.host().charge(core::PrivatePrice::shared_access);
  if (state_.is_near(owner)) {
    if (std::byte* const at = near(object, owner, offset, bytes)) {
      ++state_.counters.local_accesses;
      return state_.endpoint.get_nb(owner, to, at, bytes);
    }
  }
  puts_.before(object, owner, offset, bytes);
  if (std::byte* const at = hit(object, owner, offset, bytes)) return state_.endpoint.get_nb(owner, to, at, bytes);
  return get_asked(object, owner, offset, to, bytes);
}

template <class H>
core::Event SharedSpace<H>::put_nb(Handle object, Rank owner, Bytes offset, const void* from, Bytes bytes,
                                   LocalCompletion local) {
  state_.endpoint.host().charge(core::PrivatePrice::shared_access);
  if (state_.is_near(owner)) {
    if (std::byte* const at = near(object, owner, offset, bytes)) {
      ++state_.counters.local_accesses;
      return state_.endpoint.put_nb(owner, at, from, bytes, local);
    }
  }
  puts_.before(object, owner, offset, bytes);
  std::byte* const at = state_.options.cached_puts ? hit(object, owner, offset, bytes) : passed_by();
  return at != nullptr ? state_.endpoint.put_nb(owner, at, from, bytes, local)
                       : put_asked(object, owner, offset, from, bytes, local);
}

template <class H>
std::byte* SharedSpace<H>::local(Handle object, Rank owner) {
  (void)require("local", object, owner, 0, 0);
  if (!state_.is_near(owner)) return nullptr;
  std::byte* const at = near(object, owner, 0, 0);
  return at != nullptr ? static_cast<std::byte*>(state_.endpoint.map(owner, at)) : nullptr;
}

template class SharedSpace<RealHost>;
template class SharedSpace<ThreadedHost>;
template class SharedSpace<StampedHost>;
template class SharedSpace<sim::ModelHost>;

}  // namespace gasmeter::pgas
