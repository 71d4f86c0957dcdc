// What the stressmarks compute between accesses, in instructions: virtual time charges a rank for them, since the work
// that is done here is no part of it.
//
// Counted by callgrind (tests/cpp/dis_work) in the sequential programs' loops as a compiler makes them of one access
// after the other, without vectors; kernels/README.md has the table.
#pragma once

#include <cstdint>

namespace gasmeter::bench::dis {

struct Work {
  // Pointer and Update: of a hop, of each word of its window, of each comparison of two words; Update: of each word.
  static constexpr std::uint64_t kHop = 30;
  static constexpr std::uint64_t kWord = 5;
  static constexpr std::uint64_t kComparison = 5;
  static constexpr std::uint64_t kSum = 2;
  // Neighborhood: of a pair of pixels.
  static constexpr std::uint64_t kPair = 14;
  // Field: of a byte that is looked at, of a byte of a token that is compared behind the first, of one that is changed.
  static constexpr std::uint64_t kByte = 9;
  static constexpr std::uint64_t kCompared = 5;
  static constexpr std::uint64_t kChanged = 12;
};

// What a test leaves out of a program of several ranks: none may come to the right output.
enum class Fault : std::uint8_t { none, no_median, no_sum, no_direction, no_change };

}  // namespace gasmeter::bench::dis
