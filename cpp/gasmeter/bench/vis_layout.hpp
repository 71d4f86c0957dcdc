// Layout of vector, indexed and strided transfers, and its verification, by conduits and raw.
//
// The layout is that of testvisperf of GASNet: a piece of `piece` bytes every piece / density bytes, at both sides. A
// description of L levels takes, for each level but the last, the largest divisor f of the remaining pieces with f <=
// left / (2 (L - level)), and the rest for the last level. All levels together walk through the same pieces, and fold
// into one level. With foldable=false each level keeps a piece's distance from the level below.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "gasmeter/base/units.hpp"
#include "gasmeter/bench/numbered_slots.hpp"
#include "gasmeter/bench/pattern.hpp"
#include "gasmeter/bench/program.hpp"
#include "gasmeter/bench/settings.hpp"

namespace gasmeter::bench::vis {

enum class Form : std::uint8_t { strided, indexed, vector };

[[nodiscard]] inline Form parse_form(const std::string& op) {
  if (op.starts_with("strided")) return Form::strided;
  return op.starts_with("indexed") ? Form::indexed : Form::vector;
}

// Throw UsageError for options that give no layout.
void check_options(const Settings& settings);
// Return the bytes of one side of all slots, the first of which timed blocks use; throws like check_options().
[[nodiscard]] Bytes share_of(const Settings& settings);

inline constexpr std::byte kGap{0x5a};

struct Layout {
  explicit Layout(const Settings& settings);

  // Call f(offset) for every piece, in order.
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
  // Return the distance between slots, in bytes.
  [[nodiscard]] Bytes slot_stride() const { return numbered::stride_of(extent); }
  [[nodiscard]] std::uint64_t slots() const { return numbered::slots_of(slot_stride(), 0, largest_segment); }
  // Store kGap between pieces, and in pieces bytes that a transfer of this number will not bring.
  void clear(std::byte* target, std::uint64_t seed, std::uint64_t number) const;
  // Check that a transfer of this number has brought the pieces, and left the gaps alone.
  void check(Verification& verification, const std::byte* target, std::uint64_t seed, std::uint64_t number) const;

  Bytes piece;
  Bytes pieces;
  std::vector<Bytes> counts;
  std::vector<std::ptrdiff_t> strides;
  Bytes extent = 0;
  Bytes largest_segment;
};

// Both sides of one transfer: at rank 0, and at rank 1.
struct Sides {
  std::byte* here = nullptr;
  std::byte* there = nullptr;
};

// A rank's share of a verification: blocks of transfers, each with sides and a number of its own.
class Checking {
 public:
  Checking(const Layout& layout, bool is_put, Rank self)
      : layout_(layout),
        is_put_(is_put),
        is_source_(self == Rank{is_put ? 0U : 1U}),
        is_target_(self == Rank{is_put ? 1U : 0U}) {}

  // Verify. run(n) moves the first n of `slots`; collective.
  template <class Run>
  [[nodiscard]] Verification verify(std::span<const Sides> slots, std::uint64_t seed, Run&& run) {
    found_ = {};
    for (std::uint64_t round = 1; round <= kCheckedRounds; ++round) {
      pattern_ = seed + round;
      moved_ = slots.first(round == 1 ? slots.size() : 1);
      if (is_source_) fill_sources();
      for (std::size_t i = 0; is_target_ && i < moved_.size(); ++i) layout_.clear(target(i), pattern_, i);
      is_under_way_ = true;
      run(moved_.size());
      is_under_way_ = false;
      if (is_target_) compare();
    }
    return found_;
  }
  [[nodiscard]] bool is_under_way() const { return is_under_way_; }
  [[nodiscard]] bool is_target() const { return is_target_; }
  // Compare at the instant at which the transfers of a block are complete; called by a rank that can look at their
  // targets.
  void compare() {
    for (std::size_t i = 0; i < moved_.size(); ++i) layout_.check(found_, target(i), pattern_, i);
  }
  // Overwrite the sources, which may change after completion.
  void overwrite_sources() {
    for (std::size_t i = 0; i < moved_.size(); ++i) numbered::clear({source(i), layout_.extent}, pattern_, i);
  }

 private:
  void fill_sources() {
    for (std::size_t i = 0; i < moved_.size(); ++i) numbered::fill({source(i), layout_.extent}, pattern_, i);
  }
  [[nodiscard]] std::byte* source(std::size_t i) const { return is_put_ ? moved_[i].here : moved_[i].there; }
  [[nodiscard]] std::byte* target(std::size_t i) const { return is_put_ ? moved_[i].there : moved_[i].here; }

  const Layout& layout_;
  bool is_put_;
  bool is_source_;
  bool is_target_;
  bool is_under_way_ = false;
  std::uint64_t pattern_ = 0;
  std::span<const Sides> moved_;
  Verification found_;
};

}  // namespace gasmeter::bench::vis
