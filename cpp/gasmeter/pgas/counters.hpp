// Counters of a rank's accesses.
#pragma once

#include <cstdint>

namespace gasmeter::pgas {

// Sums since the space was made. Each look-up adds the entries in use to `entries`, and the pieces pinned to `pins`.
// Divided by the look-ups, both are means.
struct SpaceCounters {
  std::uint64_t lookups = 0;
  std::uint64_t hits = 0;
  std::uint64_t entries = 0;
  std::uint64_t pins = 0;
  std::uint64_t evictions = 0;      // entries evicted for lack of room
  std::uint64_t invalidations = 0;  // entries removed because their object was freed
  std::uint64_t remote_accesses = 0;
  std::uint64_t local_accesses = 0;  // to the rank's own parts, and to those of neighbours that are accessed directly
  // In virtual time: total time of remote accesses, from the call to the data or to local completion
  std::uint64_t waits_ps = 0;

  [[nodiscard]] std::uint64_t misses() const { return lookups - hits; }
  // Return the counts since `earlier`.
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
