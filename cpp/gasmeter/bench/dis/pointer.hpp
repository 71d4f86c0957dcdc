// DIS Pointer by one process: chains through an array of random words. Each hop goes to the median of a window of
// words.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "gasmeter/bench/dis/random.hpp"

namespace gasmeter::bench::dis {

inline constexpr std::uint64_t kLeastWords = 16;
inline constexpr std::uint64_t kMostWords = std::uint64_t{1} << 24U;
inline constexpr unsigned kMostWindow = 15;  // odd, from 1 on

using Word = std::uint64_t;
// Memory for a window.
using Window = std::array<Word, kMostWindow>;

// Make random words. A hop goes from one of the first `words - window` words to another of them. `words` > `window`.
[[nodiscard]] inline std::vector<Word> random_words(std::uint64_t words, unsigned window, std::uint64_t seed) {
  Random random(seed_of(seed));
  std::vector<Word> field(words);
  for (Word& word : field) {
    word = static_cast<Word>(random.integer(0, static_cast<std::int64_t>(words - window) - 1));
  }
  return field;
}

// A chain. It ends at an index from `stop_from` on and before `stop_before`, or after the allowed number of hops.
struct Chain {
  std::uint64_t initial = 0;
  std::uint64_t stop_from = 0;
  std::uint64_t stop_before = 0;

  [[nodiscard]] bool stops_at(std::uint64_t index) const { return index >= stop_from && index < stop_before; }
};

// Make a chain. DIS takes chains from its input; here the `number`-th chain has a random stream of its own, and ends at
// one word.
[[nodiscard]] inline Chain random_chain(std::uint64_t words, unsigned window, std::uint64_t seed,
                                        std::uint64_t number) {
  Random random(seed_of(seed, 1 + number));
  const auto last = static_cast<std::int64_t>(words - window) - 1;
  Chain chain;
  chain.initial = static_cast<std::uint64_t>(random.integer(0, last));
  chain.stop_from = static_cast<std::uint64_t>(random.integer(0, last));
  chain.stop_before = chain.stop_from + 1;
  return chain;
}

// Return the middle word of an odd number of words, as if they were sorted.
[[nodiscard]] inline Word sorted_median(std::span<const Word> window) {
  Window sorted{};
  std::copy(window.begin(), window.end(), sorted.begin());
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(window.size() / 2);
  std::nth_element(sorted.begin(), middle, sorted.begin() + static_cast<std::ptrdiff_t>(window.size()));
  return *middle;
}

// The end of a chain. DIS reports the hops; the final index tells whether they were the right hops.
struct ChainEnd {
  std::uint64_t hops = 0;
  std::uint64_t index = 0;

  bool operator==(const ChainEnd&) const = default;
};

[[nodiscard]] inline ChainEnd end_of(std::span<const Word> field, unsigned window, const Chain& chain,
                                     std::uint64_t limit) {
  ChainEnd end{0, chain.initial};
  while (end.hops < limit && !chain.stops_at(end.index)) {
    end.index = (sorted_median(field.subspan(end.index, window)) + end.hops) % (field.size() - window);
    ++end.hops;
  }
  return end;
}

}  // namespace gasmeter::bench::dis
