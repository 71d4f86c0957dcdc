// The HPC Challenge RandomAccess stream and the distribution of its table (HPCC reference rules; algorithms.md section
// 1 of the project's references: polynomial x^63 + x^2 + x + 1 over GF(2), period (2^63 - 1) / 7).
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#include "gasmeter/base/platform.hpp"
#include "gasmeter/base/random.hpp"

namespace gasmeter::bench::random_access {

inline constexpr std::uint64_t kPolynomial = 7;
inline constexpr std::uint64_t kPeriod = 1317624576693539401U;
inline constexpr std::uint64_t kLookAhead = 1024;  // updates that a rank may hold back
inline constexpr std::uint64_t kUpdatesPerWord = 4;
inline constexpr double kAllowedErrorFraction = 0.01;

[[nodiscard]] constexpr std::uint64_t step(std::uint64_t r) {
  return (r << 1) ^ (static_cast<std::uint64_t>(static_cast<std::int64_t>(r) >> 63) & kPolynomial);
}

// Return R_n of the stream with R_0 = 1, in about 64 * log2(n) steps.
[[nodiscard]] constexpr std::uint64_t starts(std::uint64_t n) {
  n %= kPeriod;
  if (n == 0) return 1;
  std::array<std::uint64_t, 64> square{};  // square[i] = R_(2i): XOR over the set bits of R_k gives R_(2k)
  std::uint64_t value = 1;
  for (auto& entry : square) {
    entry = value;
    value = step(step(value));
  }
  std::uint64_t result = 2;  // R_1
  for (int bit = static_cast<int>(std::bit_width(n)) - 2; bit >= 0; --bit) {
    std::uint64_t doubled = 0;
    for (unsigned i = 0; i < 64; ++i) {
      if (((result >> i) & 1U) != 0) doubled ^= square[i];
    }
    result = ((n >> static_cast<unsigned>(bit)) & 1U) != 0 ? step(doubled) : doubled;
  }
  return result;
}

// Return where in the stream a run begins. Seed 1 begins at R_0, as HPC Challenge does. There, and whenever a power of
// two divides the position, values have few set bits, and most belong to the first ranks. Only a whole run of 4 N
// updates evens this out. Another seed begins elsewhere, so that short runs are even, too.
[[nodiscard]] constexpr std::uint64_t offset_of_seed(std::uint64_t seed) {
  if (seed <= 1) return 0;
  return splitmix64((seed - 1) * kGoldenGamma) % kPeriod;  // the seed-th value of splitmix64
}

// The owners of words: N words, a power of two; the first N mod P ranks own one word more.
class Distribution {
 public:
  Distribution(std::uint64_t words, std::uint32_t ranks, std::uint64_t seed = 1)
      : stream_offset_(offset_of_seed(seed)),
        words_(words),
        mask_(words - 1),
        small_(words / ranks),
        remainder_(words % ranks),
        top_(remainder_ * (small_ + 1)),
        shift_(remainder_ == 0 ? static_cast<unsigned>(std::countr_zero(small_)) : 0) {}

  [[nodiscard]] std::uint64_t stream_offset() const { return stream_offset_; }
  [[nodiscard]] std::uint64_t words() const { return words_; }
  [[nodiscard]] std::uint64_t mask() const { return mask_; }
  [[nodiscard]] bool is_even() const {
    return remainder_ == 0;
  }  // P is a power of two: owner and offset are bit fields
  [[nodiscard]] unsigned shift() const { return shift_; }
  [[nodiscard]] std::uint64_t first_of(std::uint64_t rank) const {
    return rank < remainder_ ? rank * (small_ + 1) : top_ + (rank - remainder_) * small_;
  }
  [[nodiscard]] std::uint64_t count_of(std::uint64_t rank) const { return small_ + (rank < remainder_ ? 1 : 0); }
  [[nodiscard]] std::uint64_t largest_count() const { return small_ + (remainder_ != 0 ? 1 : 0); }

  [[nodiscard]] GASMETER_INLINE std::uint32_t owner(std::uint64_t index) const {
    if (GASMETER_LIKELY(remainder_ == 0)) return static_cast<std::uint32_t>(index >> shift_);
    return static_cast<std::uint32_t>(index < top_ ? index / (small_ + 1) : (index - remainder_) / small_);
  }
  [[nodiscard]] GASMETER_INLINE std::uint64_t offset(std::uint64_t index, std::uint32_t owner) const {
    return index - first_of(owner);
  }

 private:
  std::uint64_t stream_offset_;
  std::uint64_t words_;
  std::uint64_t mask_;
  std::uint64_t small_;
  std::uint64_t remainder_;
  std::uint64_t top_;
  unsigned shift_;
};

// A rank's part of the stream: 4 updates for each word it owns, then from the start again.
class Stream {
 public:
  Stream(const Distribution& table, std::uint32_t rank)
      : first_((table.stream_offset() + kUpdatesPerWord * table.first_of(rank)) % kPeriod),
        length_(kUpdatesPerWord * table.count_of(rank)) {
    seek(0);
  }

  [[nodiscard]] std::uint64_t length() const { return length_; }
  [[nodiscard]] std::uint64_t position() const { return position_; }  // updates handed out since the last seek(0)
  void seek(std::uint64_t position) {
    position_ = position;
    value_ = starts(first_ + position % length_);
  }

  // Call use(value) for each of the next `count` values. Between two ends of the stream the loop reads only the value
  // before.
  template <class Use>
  GASMETER_INLINE void each(std::uint64_t count, Use use) {
    std::uint64_t rest = length_ - position_ % length_;
    std::uint64_t value = value_;
    position_ += count;
    while (count != 0) {
      const std::uint64_t run = std::min(count, rest);
      for (std::uint64_t i = 0; i < run; ++i) {
        value = step(value);
        use(value);
      }
      count -= run;
      rest -= run;
      if (rest == 0) {
        value = starts(first_);
        rest = length_;
      }
    }
    value_ = value;
  }

  // Copy the next `count` values into `out`.
  GASMETER_INLINE void take(std::uint64_t* out, std::uint64_t count) {
    each(count, [&](std::uint64_t value) { *out++ = value; });
  }

 private:
  std::uint64_t first_;
  std::uint64_t length_;
  std::uint64_t position_ = 0;
  std::uint64_t value_ = 0;
};

}  // namespace gasmeter::bench::random_access
