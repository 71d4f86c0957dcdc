// What fetch-and-adds have in common, by conduits and raw: who adds what to whose word, how a block of all ranks at one
// word is taken, and what has to come out.
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

// Of a rank in a verification: few of each of many ranks are many at the word, too.
inline constexpr std::uint64_t kChecked = 64;
inline constexpr std::uint64_t kCheckedOfMany = 16;
inline constexpr std::uint32_t kMany = 64;  // ranks: more are

// Whose word it is, who adds to it, and how many operations of each a verification looks at.
struct Roles {
  Roles(Op op, Rank self, std::uint32_t ranks)
      : owner{op == Op::hot_spot ? Rank{0} : Rank{1}},
        adds(op == Op::hot_spot || self == Rank{0}),
        checked(op == Op::hot_spot && ranks > kMany ? kCheckedOfMany : kChecked) {}
  Rank owner;
  bool adds;
  std::uint64_t checked;
};

// By option `type`: a word of 64 bits, or of 32.
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

// Bytes of each rank: the word, and in a line of its own what it tells of a round of hot-spot.
inline constexpr Bytes kFinishedAt = 2 * kNoSharing;
inline constexpr Bytes kToldAt = kFinishedAt + sizeof(std::uint64_t);
[[nodiscard]] inline Bytes share_of(const Settings& /*settings*/) {
  return 4 * kNoSharing;
}

// Numbers drawn from a counter that all ranks draw from: each of them once.
inline void check_drawn(Verification& verification, std::vector<std::uint64_t> drawn, std::uint64_t all) {
  std::sort(drawn.begin(), drawn.end());
  verification.checked += drawn.size();
  for (std::size_t i = 0; i < drawn.size(); ++i) {
    const bool repeated = i != 0 && drawn[i] == drawn[i - 1];
    verification.errors += repeated || drawn[i] >= all ? 1U : 0U;
  }
}

// What block after block adds for its n-th operation, n from 0.
template <class Value>
[[nodiscard]] constexpr Value added(std::uint64_t n) {
  return static_cast<Value>(n & 15U);
}
// In n operations, a multiple of 16.
[[nodiscard]] constexpr std::uint64_t added_by(std::uint64_t n) {
  return n / 16 * (15 * 16 / 2);
}
static_assert(kChecked % 16 == 0 && kCheckedOfMany % 16 == 0 && hot_spot::kChunk % 16 == 0);

// A block of hot-spot on real ranks that are neighbours; `rounds` counts a program's rounds. For a side see
// hot_spot::one_round.
template <class Side>
BlockResult hot_spot_block(Side& side, std::uint64_t iterations, std::uint64_t& rounds) {
  const SimTime elapsed = hot_spot::time_of_block(iterations, side.ranks(), [&](std::uint64_t operations) {
    return hot_spot::one_round(side, ++rounds, operations);
  });
  return result_of(Op::hot_spot, elapsed, iterations * side.ranks());
}

// What all ranks have added in the one round of a short block.
template <class Side>
std::uint64_t sum_of_round(Side& side) {
  std::uint64_t sum = 0;
  for (std::uint32_t rank = 0; rank < side.ranks(); ++rank) sum += added_by(side.told(rank));
  return sum;
}

}  // namespace gasmeter::bench::fetch_add
