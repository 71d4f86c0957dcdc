// How much work a test does: everything in a plain build, less where a sanitizer slows it down.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace gasmeter::testing {

// `n` rounds of a plain build.
[[nodiscard]] constexpr std::uint64_t rounds(std::uint64_t n) {
  return std::max<std::uint64_t>(1, n * GASMETER_TEST_EFFORT_PERCENT / 100);
}

inline constexpr std::string_view kSanitizer = GASMETER_TEST_SANITIZER;
// The race detector takes two mappings of the same memory for two memories.
inline constexpr bool kSeesThroughMappings = kSanitizer.find("thread") == std::string_view::npos;

}  // namespace gasmeter::testing
