// What a shared space is told about itself: the same at all ranks.
#pragma once

#include <cstdint>
#include <limits>

#include "gasmeter/base/units.hpp"

namespace gasmeter::pgas {

enum class CacheUse : std::uint8_t {
  off,   // every access asks the target, and nothing is kept
  on,    // the answer's base address is kept, and used
  miss,  // ... kept and looked for, but every access counts as a miss: what one costs
};
enum class Replacement : std::uint8_t { lru, random };
enum class Pinning : std::uint8_t {
  everything,  // a rank's part of an object at once, at the first touch
  chunks,      // the piece that is touched; an entry of the cache for each
};
enum class Near : std::uint8_t {
  direct,  // neighbours' parts are loaded and stored
  remote,  // they are asked for as others are
};

inline constexpr std::uint32_t kUnlimited = std::numeric_limits<std::uint32_t>::max();

struct SpaceOptions {
  CacheUse cache = CacheUse::on;
  std::uint32_t capacity = 100;  // entries of the cache, 1 or more; kUnlimited
  Replacement replacement = Replacement::lru;
  bool cached_puts = true;  // puts use the cache as gets do
  Pinning pinning = Pinning::everything;
  Bytes chunk = 128 * 1024;  // with Pinning::chunks, of a node's part
  Bytes copy_limit = 8192;   // uncached accesses of at most so many bytes are copied, others make a rendezvous
  Near near = Near::direct;
  Bytes first = 0;         // bytes at the begin of each segment that are not the space's
  std::uint64_t seed = 0;  // of random replacement
};

// Throws UsageError for what no space can be: capacity 0, chunks of no bytes.
void check(const SpaceOptions& options);

}  // namespace gasmeter::pgas
