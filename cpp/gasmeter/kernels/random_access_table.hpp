// The table of RandomAccess: its shares, how values are applied to a share, how it is verified. Same for every variant.
#pragma once

#include <algorithm>
#include <bit>
#include <string>

#include "gasmeter/base/error.hpp"
#include "gasmeter/kernels/kernel.hpp"
#include "gasmeter/kernels/random_access_stream.hpp"

namespace gasmeter::kernels::random_access {

inline constexpr std::uint64_t kPrefetchDistance = 24;  // table words in flight while values are applied
inline constexpr std::uint64_t kProbeUpdates = 16384;   // of a verification that nothing was run before

inline void check_table(const Settings& settings) {
  const std::uint64_t words = settings.size / sizeof(std::uint64_t);
  if (settings.size % sizeof(std::uint64_t) != 0 || !std::has_single_bit(words) || words < settings.ranks) {
    throw UsageError("kernel random-access: size " + std::to_string(settings.size) +
                     " B; the table is a power of two of 8-byte words, at least one per rank");
  }
}

inline Distribution distribution_of(const Settings& settings) {
  return {settings.size / sizeof(std::uint64_t), settings.ranks, settings.seed};
}

inline Bytes share_of(const Settings& settings) {
  check_table(settings);
  return distribution_of(settings).largest_count() * sizeof(std::uint64_t);
}

// Calls apply(value) for every value, with the words of the following ones on their way into the cache.
template <class Address, class Apply>
GASMETER_INLINE void with_prefetch(const std::uint64_t* values, std::uint64_t count, Address address, Apply apply) {
  const std::uint64_t ahead = std::min(count, kPrefetchDistance);
  for (std::uint64_t i = 0; i < ahead; ++i) prefetch_write(address(values[i]));
  std::uint64_t i = 0;
  for (; i + kPrefetchDistance < count; ++i) {
    prefetch_write(address(values[i + kPrefetchDistance]));
    apply(values[i]);
  }
  for (; i < count; ++i) apply(values[i]);
}

inline void initialise(std::uint64_t* table, std::uint64_t first, std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i) table[i] = first + i;
}

inline Verification check_and_reset(std::uint64_t* table, std::uint64_t first, std::uint64_t count) {
  Verification found;
  for (std::uint64_t i = 0; i < count; ++i) found.errors += table[i] != first + i ? 1U : 0U;
  found.checked = count;
  found.allowed = static_cast<std::uint64_t>(static_cast<double>(count) * kAllowedErrorFraction);
  initialise(table, first, count);
  return found;
}

inline void add_gups(BlockResult& result) {
  result.metrics.emplace_back("gups", static_cast<double>(result.operations) / result.elapsed.seconds() * 1e-9);
}

}  // namespace gasmeter::kernels::random_access
