// Test data that shows a lost, repeated or misplaced byte.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <utility>

#include "gasmeter/base/error.hpp"
#include "gasmeter/base/random.hpp"
#include "gasmeter/base/units.hpp"
#include "gasmeter/bench/settings.hpp"

namespace gasmeter::bench {

// Return bytes 8 * `which` to 8 * `which` + 7 of the pattern, the first in the lowest bits.
inline std::uint64_t pattern_word(std::uint64_t seed, Bytes which) {
  return splitmix64(seed ^ (which * 0x10001U));
}
inline std::byte pattern_byte(std::uint64_t seed, Bytes offset) {
  return static_cast<std::byte>(pattern_word(seed, offset / 8) >> (offset % 8 * 8));
}

// Private memory that starts on a page, as segments do. Copies between the two are then alike on every conduit and on
// the memory itself, and differ only in what is measured.
class AlignedBuffer {
 public:
  static constexpr Bytes kAlignment = 4096;

  explicit AlignedBuffer(Bytes size)
      : size_(size), data_(static_cast<std::byte*>(::operator new(size + 1, std::align_val_t{kAlignment}))) {
    std::memset(data_.get(), 0, size);
  }
  [[nodiscard]] std::byte* data() const { return data_.get(); }
  [[nodiscard]] Bytes size() const { return size_; }
  operator std::span<std::byte>() const { return {data_.get(), size_}; }

 private:
  struct Free {
    void operator()(std::byte* data) const { ::operator delete(data, std::align_val_t{kAlignment}); }
  };
  Bytes size_;
  std::unique_ptr<std::byte, Free> data_;
};

static_assert(std::endian::native == std::endian::little, "words of a pattern are stored as they are");

inline void fill_pattern(std::span<std::byte> bytes, std::uint64_t seed) {
  const Bytes words = bytes.size() / 8;
  for (Bytes i = 0; i < words; ++i) {
    const std::uint64_t word = pattern_word(seed, i);
    std::memcpy(bytes.data() + 8 * i, &word, sizeof word);
  }
  for (Bytes i = 8 * words; i < bytes.size(); ++i) bytes[i] = pattern_byte(seed, i);
}

// Count the bytes that differ from the pattern, from byte `first` on.
inline std::uint64_t count_differences(const void* data, Bytes size, std::uint64_t seed, Bytes first = 0) {
  const auto* const bytes = static_cast<const std::byte*>(data);
  std::uint64_t differences = 0;
  const auto count = [&](Bytes from, Bytes to) {
    for (Bytes i = from; i < to; ++i) differences += bytes[i] != pattern_byte(seed, i) ? 1U : 0U;
  };
  if (first >= size) return 0;
  const Bytes whole = std::min(size, (first + 7) / 8 * 8);
  count(first, whole);
  Bytes i = whole;
  for (; size - i >= 8; i += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes + i, sizeof word);
    if (word != pattern_word(seed, i / 8)) count(i, i + 8);
  }
  count(i, size);
  return differences;
}

// A verification runs the timed loop unchanged, in this many blocks of one operation, each with data of its own. In a
// longer block a transfer that is left out hides behind the next one to the same place.
inline constexpr std::uint64_t kCheckedRounds = 4;

// Size of a verification's first block: as many operations as were timed, up to a number that suffices for them to
// affect one another. Large operations are fewer, so that a verification takes no longer than the blocks it verifies.
// The verification may count its own blocks as timed, as they are no longer.
class CheckedOperations {
 public:
  explicit CheckedOperations(Bytes size) : most_(std::clamp(kBytes / std::max<Bytes>(size, 1), kLeast, kMost)) {}

  void timed(std::uint64_t iterations) { longest_ = std::max(longest_, iterations); }
  [[nodiscard]] std::uint64_t count() const { return std::min(most_, longest_); }

 private:
  static constexpr std::uint64_t kLeast = 8;
  static constexpr std::uint64_t kMost = 100;
  static constexpr Bytes kBytes = Bytes{1} << 20U;

  std::uint64_t most_;
  std::uint64_t longest_ = kLeast;
};

// Check the number of ranks, and return the settings: a program's first member that uses them can then check before any
// peer is looked for.
inline const Settings& require_ranks(const Settings& settings, std::uint32_t least) {
  if (settings.ranks < least) {
    throw UsageError("kernel " + settings.kernel + ": ranks=" + std::to_string(settings.ranks) +
                     "; it needs at least " + std::to_string(least));
  }
  return settings;
}

[[noreturn]] inline void refuse_raw_op(const Settings& settings, const std::string& network, const std::string& ops) {
  throw UsageError("kernel " + settings.kernel + " on raw@" + network + ": no op '" + settings.op + "'; it has " + ops);
}
// Check options that a raw program does not know: each must have its default, which is given with its name.
inline void require_raw_defaults(const Settings& settings, const std::string& network,
                                 std::initializer_list<std::pair<const char*, const char*>> unknown) {
  for (const auto& [name, value] : unknown) {
    if (settings.text(name) == value) continue;
    throw UsageError("kernel " + settings.kernel + " on raw@" + network + ", op " + settings.op + ": option '" + name +
                     "=" + settings.text(name) + "': it has " + name + "=" + value + " alone");
  }
}

}  // namespace gasmeter::bench
