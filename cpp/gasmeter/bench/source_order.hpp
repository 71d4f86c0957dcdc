// The order in which a stream's operations use several buffers: the working set of a network that registers memory.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "gasmeter/base/random.hpp"

namespace gasmeter::bench {

// The buffer of an operation does not depend on those before it, so that every rank knows it.
class SourceOrder {
 public:
  // cyclic: one after the other, and again. sweep: up, and down again; at its ends each is used twice. zipf: at random,
  // the k-th one 1/k times as often as the first (Zipf's law with exponent 1).
  SourceOrder(std::uint64_t sources, const std::string& order, std::uint64_t seed)
      : sources_(sources), sweeps_(order == "sweep"), seed_(seed) {
    if (order != "zipf") return;
    std::uint64_t sum = 0;
    for (std::uint64_t k = 1; k <= sources; ++k) below_.push_back(sum += kFirst / k);
  }

  [[nodiscard]] std::uint64_t at(std::uint64_t operation) const {
    if (!below_.empty()) {
      const std::uint64_t drawn = splitmix64(seed_ ^ splitmix64(operation)) % below_.back();
      return static_cast<std::uint64_t>(std::upper_bound(below_.begin(), below_.end(), drawn) - below_.begin());
    }
    if (!sweeps_) return operation % sources_;
    const std::uint64_t turn = operation % (2 * sources_);
    return std::min(turn, 2 * sources_ - 1 - turn);
  }
  // Return the buffers of operations [first, first + count), each once.
  [[nodiscard]] std::vector<std::uint64_t> of(std::uint64_t first, std::uint64_t count) const {
    std::vector<std::uint64_t> used;
    for (std::uint64_t i = 0; i < count; ++i) used.push_back(at(first + i));
    std::sort(used.begin(), used.end());
    used.erase(std::unique(used.begin(), used.end()), used.end());
    return used;
  }

 private:
  static constexpr std::uint64_t kFirst = std::uint64_t{1} << 40U;  // whole numbers: the same on every computer

  std::uint64_t sources_;
  bool sweeps_;
  std::uint64_t seed_;
  std::vector<std::uint64_t> below_;  // for zipf: running sums of frequencies
};

}  // namespace gasmeter::bench
