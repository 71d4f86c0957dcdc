// DIS Pointer and Update over a shared array of words: every access to it gets or puts a single word.
//
// `Array`: get(index), put(index, word). `work(instructions)`: charges the rank's computation meanwhile.
#pragma once

#include <cstdint>
#include <span>

#include "gasmeter/bench/dis/pointer.hpp"
#include "gasmeter/bench/dis/update.hpp"
#include "gasmeter/bench/dis/work.hpp"

namespace gasmeter::bench::dis {

// Return the median of an odd number of words, and count the comparisons. For one word after the other the function
// counts the words below it and those equal to it, without sorting.
[[nodiscard]] inline Word partitioned_median(std::span<const Word> window, std::uint64_t& comparisons) {
  const std::size_t half = window.size() / 2;
  for (const Word candidate : window) {
    std::size_t below = 0;
    std::size_t alike = 0;
    for (const Word other : window) {
      below += other < candidate ? 1U : 0U;
      alike += other == candidate ? 1U : 0U;
    }
    comparisons += window.size();
    if (below <= half && half < below + alike) return candidate;
  }
  return window.front();  // never reached: an odd number of words has a median
}

// Read the window at `index` word by word.
template <class Array, class Work_>
void read_window(const Array& array, std::uint64_t index, std::span<Word> window, Work_& work) {
  for (std::size_t i = 0; i < window.size(); ++i) {
    window[i] = array.get(index + i);
    work(Work::kWord);
  }
}

// Follow a rank's chain.
template <Fault kFault = Fault::none, class Array, class Work_>
[[nodiscard]] ChainEnd follow(const Array& array, std::uint64_t words, unsigned window, const Chain& chain,
                              std::uint64_t limit, Work_ work) {
  Window room{};
  const std::span<Word> read(room.data(), window);
  ChainEnd end{0, chain.initial};
  for (; end.hops < limit && !chain.stops_at(end.index); ++end.hops) {
    read_window(array, end.index, read, work);
    std::uint64_t comparisons = 0;
    const Word median = kFault == Fault::no_median ? read[0] : partitioned_median(read, comparisons);
    work(Work::kHop + Work::kComparison * comparisons);
    end.index = (median + end.hops) % (words - window);
  }
  return end;
}

// Follow and update a chain; rank 0 alone does this, while others wait in a barrier. A relaxed read behind a put of the
// same rank sees what was put.
template <Fault kFault = Fault::none, class Array, class Work_>
[[nodiscard]] ChainEnd follow_and_update(const Array& array, std::uint64_t words, unsigned window, const Chain& chain,
                                         std::uint64_t limit, Work_ work) {
  Window room{};
  const std::span<Word> read(room.data(), window);
  ChainEnd end{0, chain.initial};
  for (; end.hops < limit && !chain.stops_at(end.index); ++end.hops) {
    read_window(array, end.index, read, work);
    Word sum = 0;
    if (kFault != Fault::no_sum) {
      for (const Word word : read) sum += word;
    }
    std::uint64_t comparisons = 0;
    const Word median = kFault == Fault::no_median ? read[0] : partitioned_median(read, comparisons);
    work(Work::kHop + Work::kSum * window + Work::kComparison * comparisons);
    array.put(end.index, sum % (words - window));
    end.index = (median + end.hops) % (words - window);
  }
  return end;
}

}  // namespace gasmeter::bench::dis
