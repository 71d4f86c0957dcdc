// What a rank's accesses came to.
#pragma once

#include <cstdint>

namespace gasmeter::pgas {

// Sums since the space was made. `entries` and `pins` are taken at each look-up: entries in use of the rank's cache,
// and of its table of pinned memory; divided by the look-ups they are means.
struct SpaceCounters {
  std::uint64_t lookups = 0;
  std::uint64_t hits = 0;
  std::uint64_t entries = 0;
  std::uint64_t pins = 0;
  std::uint64_t evictions = 0;      // entries that went for the capacity's sake
  std::uint64_t invalidations = 0;  // entries that went because their object was freed
  std::uint64_t remote_accesses = 0;
  std::uint64_t local_accesses = 0;  // this rank's own parts, and those of neighbours that are reached directly
  std::uint64_t waits_ps = 0;  // in virtual time: in remote accesses, from the call to the data, or local completion

  [[nodiscard]] std::uint64_t misses() const { return lookups - hits; }
  // What has happened since `earlier`.
  [[nodiscard]] SpaceCounters since(const SpaceCounters& earlier) const {
    return {lookups - earlier.lookups,
            hits - earlier.hits,
            entries - earlier.entries,
            pins - earlier.pins,
            evictions - earlier.evictions,
            invalidations - earlier.invalidations,
            remote_accesses - earlier.remote_accesses,
            local_accesses - earlier.local_accesses,
            waits_ps - earlier.waits_ps};
  }
  SpaceCounters& operator+=(const SpaceCounters& more) {
    lookups += more.lookups;
    hits += more.hits;
    entries += more.entries;
    pins += more.pins;
    evictions += more.evictions;
    invalidations += more.invalidations;
    remote_accesses += more.remote_accesses;
    local_accesses += more.local_accesses;
    waits_ps += more.waits_ps;
    return *this;
  }
  bool operator==(const SpaceCounters&) const = default;
};

}  // namespace gasmeter::pgas
