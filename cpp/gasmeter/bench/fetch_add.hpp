// Common parts of fetch-and-add programs, by conduits and raw: which rank adds what to whose word, how a block of all
// ranks at one word is taken, and what the result must be.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "gasmeter/base/platform.hpp"
#include "gasmeter/base/units.hpp"
#include "gasmeter/bench/hot_spot.hpp"
#include "gasmeter/bench/program.hpp"
#include "gasmeter/bench/settings.hpp"

namespace gasmeter::bench::fetch_add {

enum class Op : std::uint8_t { latency, rate, hot_spot };

[[nodiscard]] inline Op parse_op(const std::string& name) {
  if (name == "latency") return Op::latency;
  return name == "rate" ? Op::rate : Op::hot_spot;
}

// Operations of a rank in a verification: with many ranks, a few of each are many at the word, too.
inline constexpr std::uint64_t kChecked = 64;
inline constexpr std::uint64_t kCheckedOfMany = 16;
inline constexpr std::uint32_t kMany = 64;  // more ranks than this are many

// Roles of a rank: who owns the word, who adds to it, and how many operations of each rank a verification looks at.
struct Roles {
  Roles(Op op, Rank self, std::uint32_t ranks)
      : owner{op == Op::hot_spot ? Rank{0} : Rank{1}},
        adds(op == Op::hot_spot || self == Rank{0}),
        checked(op == Op::hot_spot && ranks > kMany ? kCheckedOfMany : kChecked) {}
  Rank owner;
  bool adds;
  std::uint64_t checked;
};

// Tell whether option `type` asks for a word of 64 bits, not 32.
[[nodiscard]] inline bool is_wide(const Settings& settings) {
  return settings.text("type") == "u64";
}

[[nodiscard]] inline BlockResult result_of(Op op, SimTime elapsed, std::uint64_t operations) {
  BlockResult result{elapsed, operations, {}};
  if (op == Op::latency) {
    result.add_time_per_operation("latency");
  } else {
    result.add_rate();
  }
  return result;
}

// Bytes of each rank: the word; in a cache line of its own what the rank tells of a round of hot-spot; and the word in
// which it counts its barriers.
inline constexpr Bytes kFinishedAt = 2 * kNoSharing;
inline constexpr Bytes kToldAt = kFinishedAt + sizeof(std::uint64_t);
inline constexpr Bytes kEnteredAt = 3 * kNoSharing;
[[nodiscard]] inline Bytes share_of(const Settings& /*settings*/) {
  return 4 * kNoSharing;
}

// Check numbers drawn from a counter that all ranks draw from: each must come once.
inline void check_drawn(Verification& verification, std::vector<std::uint64_t> drawn, std::uint64_t all) {
  std::sort(drawn.begin(), drawn.end());
  verification.checked += drawn.size();
  for (std::size_t i = 0; i < drawn.size(); ++i) {
    const bool repeated = i != 0 && drawn[i] == drawn[i - 1];
    verification.errors += repeated || drawn[i] >= all ? 1U : 0U;
  }
}

// Return the number that a block adds in its n-th operation, n from 0.
template <class Value>
[[nodiscard]] constexpr Value added(std::uint64_t n) {
  return static_cast<Value>(n & 15U);
}
// Return the sum of n operations, a multiple of 16.
[[nodiscard]] constexpr std::uint64_t added_by(std::uint64_t n) {
  return n / 16 * (15 * 16 / 2);
}
static_assert(kChecked % 16 == 0 && kCheckedOfMany % 16 == 0 && hot_spot::kChunk % 16 == 0);

// Run a block of hot-spot on real ranks that are neighbours; `rounds` counts a program's rounds. hot_spot::one_round
// says what a side is.
template <class Side>
BlockResult hot_spot_block(Side& side, std::uint64_t iterations, std::uint64_t& rounds) {
  const SimTime elapsed = hot_spot::time_of_block(iterations, side.ranks(), [&](std::uint64_t operations) {
    return hot_spot::one_round(side, ++rounds, operations);
  });
  return result_of(Op::hot_spot, elapsed, iterations * side.ranks());
}

// Return what all ranks have added in the one round of a short block.
template <class Side>
std::uint64_t sum_of_round(Side& side) {
  std::uint64_t sum = 0;
  for (std::uint32_t rank = 0; rank < side.ranks(); ++rank) sum += added_by(side.told(rank));
  return sum;
}

}  // namespace gasmeter::bench::fetch_add
