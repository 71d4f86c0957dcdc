// Options of a shared space, the same at all ranks.
#pragma once

#include <cstdint>
#include <limits>

#include "gasmeter/base/units.hpp"

namespace gasmeter::pgas {

enum class CacheUse : std::uint8_t {
  off,   // every access asks the target, and no address is kept
  on,    // addresses of answers are kept and used
  miss,  // addresses are kept and looked up, but every access counts as a miss, to measure the cost of one
};
enum class Replacement : std::uint8_t { lru, random };
enum class Pinning : std::uint8_t {
  everything,  // a rank's whole part of an object, at the first touch
  chunks,      // only the piece touched; each piece has an entry of the cache
};
enum class Near : std::uint8_t {
  direct,  // neighbours' parts are loaded and stored
  remote,  // neighbours' parts are accessed by messages, like others
};

inline constexpr std::uint32_t kUnlimited = std::numeric_limits<std::uint32_t>::max();

struct SpaceOptions {
  CacheUse cache = CacheUse::on;
  std::uint32_t capacity = 100;  // entries of the cache, 1 or more; kUnlimited
  Replacement replacement = Replacement::lru;
  bool cached_puts = true;  // puts use the cache as gets do
  Pinning pinning = Pinning::everything;
  Bytes chunk = 128 * 1024;  // bytes of a piece of a node's part, with Pinning::chunks
  Bytes copy_limit = 8192;   // uncached accesses of at most so many bytes are copied; others make a rendezvous
  Near near = Near::direct;
  Bytes first = 0;         // bytes at the beginning of each segment that the space leaves alone
  std::uint64_t seed = 0;  // of random replacement
};

// Throw UsageError for capacity 0 and for chunks of 0 bytes.
void check(const SpaceOptions& options);

}  // namespace gasmeter::pgas
