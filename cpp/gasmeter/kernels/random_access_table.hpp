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

// Of a rank, in a verification that nothing was run before: enough together.
[[nodiscard]] inline std::uint64_t probe_updates(std::uint32_t ranks) {
  return std::clamp<std::uint64_t>((1U << 18U) / ranks, 64, 16384);
}

inline void check_table(const Settings& settings) {
  const std::uint64_t words = settings.size / sizeof(std::uint64_t);
  if (settings.size % sizeof(std::uint64_t) != 0 || !std::has_single_bit(words) || words < settings.ranks) {
    throw UsageError("kernel random-access: size " + std::to_string(settings.size) +
                     " B; the table is a power of two of 8-byte words, at least one per rank");
  }
}

// How many updates of a rank may be on their way, each a message of its own; 0: they travel together.
inline std::uint64_t window_of(const Settings& settings) {
  const auto found = settings.options.find("window");
  return found == settings.options.end() ? 0 : static_cast<std::uint64_t>(settings.integer("window"));
}

inline void check_options(const Settings& settings) {
  const std::int64_t window = settings.integer("window");
  if (window < 0 || window > static_cast<std::int64_t>(kLookAhead)) {
    throw UsageError("option 'window=" + std::to_string(window) + "': allowed are 0.." + std::to_string(kLookAhead));
  }
  if (window != 0 && !settings.variant.empty() && settings.variant != "am") {
    throw UsageError("option 'window=" + std::to_string(window) + "': variant " + settings.variant +
                     " sends no updates; it belongs to variant am");
  }
  if (settings.integer("priced_table_bytes") < 0) {
    throw UsageError("option 'priced_table_bytes=" + settings.text("priced_table_bytes") + "': allowed are 0 and more");
  }
}

inline Distribution distribution_of(const Settings& settings) {
  return {settings.size / sizeof(std::uint64_t), settings.ranks, settings.seed};
}

inline Bytes share_of(const Settings& settings) {
  check_table(settings);
  return distribution_of(settings).largest_count() * sizeof(std::uint64_t);
}

// The bytes of a rank's table that updates are priced for.
inline Bytes priced_table(const Settings& settings) {
  const auto found = settings.options.find("priced_table_bytes");
  const std::int64_t asked = found == settings.options.end() ? 0 : settings.integer("priced_table_bytes");
  return asked != 0 ? static_cast<Bytes>(asked) : share_of(settings);
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
