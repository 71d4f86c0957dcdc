// What the stressmarks compute between accesses, in instructions: virtual time charges a rank for them, since the work
// that is done here is no part of it.
//
// Counted by callgrind in tests/cpp/instructions/dis_work.cpp, where the same stands as a compiler makes it of one
// access after the other, without vectors; kernels/README.md has the table.
#pragma once

#include <cstdint>

namespace gasmeter::bench::dis {

struct Work {
  // Pointer and Update: of a hop, of each word of its window, of each comparison of two words; Update: of each word.
  static constexpr std::uint64_t kHop = 39;
  static constexpr std::uint64_t kWord = 8;
  static constexpr std::uint64_t kComparison = 7;
  static constexpr std::uint64_t kSum = 5;
  // Neighborhood: of a pair of pixels; of a bin with some, of which rank 0 tells entropy and energy.
  static constexpr std::uint64_t kPair = 11;
  static constexpr std::uint64_t kBin = 74;
  // Field: of a byte that is looked at, of a byte of a token that is compared behind the first, of one that is changed;
  // of what two pieces of blocks come to.
  static constexpr std::uint64_t kByte = 15;
  static constexpr std::uint64_t kCompared = 4;
  static constexpr std::uint64_t kChanged = 10;
  static constexpr std::uint64_t kTail = 16;
};

// What a test leaves out of a program of several ranks: none may come to the right output.
enum class Fault : std::uint8_t { none, no_median, no_sum, no_direction, no_change };

}  // namespace gasmeter::bench::dis
