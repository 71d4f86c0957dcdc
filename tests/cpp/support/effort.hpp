// The amount of work of a test: everything in a plain build, less where a sanitizer slows it down, ten times as much
// with GASMETER_TEST_PROFILE=thorough in the environment.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string_view>

namespace gasmeter::testing {

// Return the rounds for `n` rounds of a plain build.
[[nodiscard]] inline std::uint64_t rounds(std::uint64_t n) {
  const char* const profile = std::getenv("GASMETER_TEST_PROFILE");
  const std::uint64_t times = profile != nullptr && std::string_view(profile) == "thorough" ? 10 : 1;
  return std::max<std::uint64_t>(1, n * times * GASMETER_TEST_EFFORT_PERCENT / 100);
}

inline constexpr std::string_view kSanitizer = GASMETER_TEST_SANITIZER;
// The race detector takes two mappings of the same memory for two memories.
inline constexpr bool kSeesThroughMappings = kSanitizer.find("thread") == std::string_view::npos;

}  // namespace gasmeter::testing
