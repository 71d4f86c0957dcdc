// What vector, indexed and strided transfers move and how that is verified, by conduits and raw.
//
// Layout as in testvisperf of GASNet: a piece of `piece` bytes every piece / density bytes, at both sides. A
// description of L levels takes, for each level but the last, the largest divisor f of the pieces that are left with
// f <= left / (2 (L - level)), and the rest for the last: all levels together walk through the same pieces, and fold
// into one. With foldable=false each level keeps a piece's distance from what lies below.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "gasmeter/base/units.hpp"
#include "gasmeter/bench/pattern.hpp"
#include "gasmeter/bench/program.hpp"
#include "gasmeter/bench/settings.hpp"

namespace gasmeter::bench::vis {

enum class Form : std::uint8_t { strided, indexed, vector };

[[nodiscard]] inline Form parse_form(const std::string& op) {
  if (op.starts_with("strided")) return Form::strided;
  return op.starts_with("indexed") ? Form::indexed : Form::vector;
}

// Throws UsageError for options of which no layout can be made.
void check_options(const Settings& settings);
// Bytes of one side; throws likewise.
[[nodiscard]] Bytes share_of(const Settings& settings);

inline constexpr std::byte kGap{0x5a};

struct Layout {
  explicit Layout(const Settings& settings);

  // f(offset) for every piece, in order.
  template <class F>
  void for_pieces(F&& f) const {
    std::vector<Bytes> digit(counts.size());
    std::ptrdiff_t offset = 0;
    for (Bytes i = 0; i < pieces; ++i) {
      f(offset);
      for (std::size_t level = 0; level < counts.size(); ++level) {
        offset += strides[level];
        if (++digit[level] < counts[level]) break;
        offset -= static_cast<std::ptrdiff_t>(counts[level]) * strides[level];
        digit[level] = 0;
      }
    }
  }
  [[nodiscard]] std::vector<void*> addresses(std::byte* base) const;
  // Bytes of `moved` are those of the pattern in pieces, and between them those that were there, kGap.
  void check(Verification& verification, const std::byte* moved, std::uint64_t seed) const;

  Bytes piece;
  Bytes pieces;
  std::vector<Bytes> counts;
  std::vector<std::ptrdiff_t> strides;
  Bytes extent = 0;
};

// What run() moves, which does one transfer of the pattern; collective. `target`: where this rank looks, as it was when
// all is done; null for a rank that has nothing to look at.
template <class Run>
[[nodiscard]] Verification verify(const Layout& layout, std::byte* target, std::uint64_t seed, Run&& run) {
  const Bytes bytes = target != nullptr ? layout.extent : 0;
  const std::vector<std::byte> before(target, target + bytes);
  Verification verification;
  for (std::uint64_t round = 0; round < kCheckedRounds; ++round) {
    if (target != nullptr) std::memset(target, std::to_integer<int>(kGap), bytes);
    run();
    if (target != nullptr) layout.check(verification, target, seed);
  }
  std::copy(before.begin(), before.end(), target);
  return verification;
}

}  // namespace gasmeter::bench::vis
