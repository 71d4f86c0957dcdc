// The random numbers of the DIS stressmarks: Park and Miller's minimal standard, shuffled by the method of Bays and
// Durham.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "gasmeter/base/error.hpp"
#include "gasmeter/base/random.hpp"

namespace gasmeter::bench::dis {

// x <- 16807 x mod 2^31 - 1.
class MinimalStandard {
 public:
  static constexpr std::int64_t kModulus = 2147483647;

  // Takes a state from 1 to kModulus - 1; from 0 nothing but zeros would come.
  explicit MinimalStandard(std::int64_t state) : state_(state) {}
  std::int64_t next() { return state_ = state_ * 16807 % kModulus; }

 private:
  std::int64_t state_;
};

// A shuffled sequence: the next number is taken from a table, at a place that the number before has chosen.
class Random {
 public:
  // Takes a seed by DIS's rule: -2147483647 to -1; the least of these is a multiple of the modulus and therefore no
  // seed.
  explicit Random(std::int64_t seed) : standard_(-seed) {
    if (seed >= 0 || seed <= -MinimalStandard::kModulus) {
      throw UsageError("random numbers of DIS: seed " + std::to_string(seed) + "; allowed are -2147483646 to -1");
    }
    for (int i = 0; i < 8; ++i) (void)standard_.next();
    for (std::size_t i = table_.size(); i-- > 0;) table_[i] = standard_.next();
    last_ = table_[0];
  }

  // Return a number from 1 to 2^31 - 2.
  std::int64_t next() {
    const std::int64_t fresh = standard_.next();
    std::int64_t& place = table_[static_cast<std::size_t>(last_) / kPerPlace];
    last_ = place;
    place = fresh;
    return last_;
  }
  // Return a number between 0 and 1, both excluded.
  double real() { return static_cast<double>(next()) / static_cast<double>(MinimalStandard::kModulus); }
  // Return a number from least to most, all equally likely: real() scaled, without rounding. most - least < 2^31.
  std::int64_t integer(std::int64_t least, std::int64_t most) {
    return least + next() * (most - least + 1) / MinimalStandard::kModulus;
  }

 private:
  static constexpr std::size_t kPlaces = 32;
  static constexpr std::size_t kPerPlace = 1 + (MinimalStandard::kModulus - 1) / kPlaces;

  MinimalStandard standard_;
  std::array<std::int64_t, kPlaces> table_{};
  std::int64_t last_ = 0;
};

// Return DIS's seed of a stream, from a seed of any size: stream 0 for the array, further streams for other inputs.
[[nodiscard]] inline std::int64_t seed_of(std::uint64_t seed, std::uint64_t stream = 0) {
  const std::uint64_t mixed = splitmix64(seed + splitmix64(stream));
  return -1 - static_cast<std::int64_t>(mixed % static_cast<std::uint64_t>(MinimalStandard::kModulus - 1));
}

}  // namespace gasmeter::bench::dis
