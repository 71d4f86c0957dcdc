// Instructions that the stressmarks compute between accesses. Virtual time charges a rank for them, since the work of
// the simulating computer is no part of it.
//
// Counted by callgrind in tests/cpp/instructions/dis_work.cpp, whose code is what a compiler makes of one access after
// the other, without vectors; docs/notes/stressmarks.md has the table.
#pragma once

#include <cstdint>

namespace gasmeter::bench::dis {

struct Work {
  // Pointer and Update: per hop, per word of its window, per comparison of two words; Update: per word summed.
  static constexpr std::uint64_t kHop = 39;
  static constexpr std::uint64_t kWord = 8;
  static constexpr std::uint64_t kComparison = 7;
  static constexpr std::uint64_t kSum = 5;
  // Neighborhood: per pair of pixels; per filled bin, from which rank 0 computes entropy and energy.
  static constexpr std::uint64_t kPair = 11;
  static constexpr std::uint64_t kBin = 74;
  // Field: per byte looked at, per byte of a token compared behind the first, per byte changed; per pair of pieces of
  // blocks joined.
  static constexpr std::uint64_t kByte = 15;
  static constexpr std::uint64_t kCompared = 4;
  static constexpr std::uint64_t kChanged = 10;
  static constexpr std::uint64_t kTail = 16;
};

// A step that a test leaves out of a program of several ranks: no such program may give the right output.
enum class Fault : std::uint8_t { none, no_median, no_sum, no_direction, no_change };

}  // namespace gasmeter::bench::dis
