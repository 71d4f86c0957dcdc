// Ways through a k-ary n-tree as express packets carry them: output after output, looked up by destination.
#pragma once

#include <cstdint>
#include <vector>

#include "gasmeter/base/platform.hpp"
#include "gasmeter/sim/topology/fat_tree.hpp"
#include "gasmeter/sim/topology/route.hpp"

namespace gasmeter::sim {

// The way that is left, the next output lowest: four bits of port below a bit that says that there is an output. Holds
// up to twelve links of switches with up to sixteen ports.
class TreeCode {
 public:
  static constexpr unsigned kHopBits = 5;
  static constexpr std::uint32_t kMostPorts = 16;
  static constexpr std::uint32_t kMostHops = 60 / kHopBits;

  // Return the next hop; at the end of a way it is port 0.
  [[nodiscard]] static GASMETER_INLINE Hop hop(std::uint64_t way) { return {static_cast<std::uint32_t>(way) & 15U, 0}; }
  [[nodiscard]] static GASMETER_INLINE std::uint64_t behind(std::uint64_t way) { return way >> kHopBits; }
  // Return the code of hop `number`, over `port`.
  [[nodiscard]] static constexpr std::uint64_t at(std::uint32_t number, std::uint32_t port) {
    return (kMostPorts | std::uint64_t{port}) << (kHopBits * number);
  }
};

class TreeWays {
 public:
  // Holds no way.
  TreeWays() = default;
  // Holds no way either where ways would not fit a code.
  explicit TreeWays(const FatTree& tree) : arity_(tree.arity()), levels_(tree.levels()) {
    if (tree.max_ports() > TreeCode::kMostPorts || 2 * levels_ > TreeCode::kMostHops) return;
    std::uint32_t reach = 1;  // terminals below a switch
    ways_.resize(std::size_t{tree.terminals()} * levels_);
    for (std::uint32_t up = 0; up != levels_; ++up) {
      reach *= arity_;
      for (std::uint32_t to = 0; to != tree.terminals(); ++to) {
        const std::uint32_t from = farthest(to, reach);
        if (from != to) ways_[std::size_t{to} * levels_ + up] = walk(tree, from, to);
      }
    }
  }

  [[nodiscard]] bool empty() const { return ways_.empty(); }
  // Return the way between two different terminals. It depends on the destination and on how high it leads.
  [[nodiscard]] GASMETER_INLINE std::uint64_t way(std::uint32_t from, std::uint32_t to) const {
    std::uint32_t up = 0;
    for (std::uint32_t other = to / arity_; (from /= arity_) != other; other /= arity_) ++up;
    return ways_[std::size_t{to} * levels_ + up];
  }
  // Return the way from any vertex, step by step; 0 at the end.
  [[nodiscard]] static std::uint64_t walk(const FatTree& tree, std::uint32_t from, std::uint32_t to) {
    std::uint64_t way = 0;
    for (std::uint32_t number = 0; from != to; ++number) {
      const Hop hop = tree.next(from, to);
      way |= TreeCode::at(number, hop.port);
      from = tree.neighbour(from, hop.port)->vertex;
    }
    return way;
  }

 private:
  // Return a terminal below the same switch above `reach` terminals, whose way to `to` is as high as that. With an
  // arity of 1 there is none: return the terminal itself.
  [[nodiscard]] std::uint32_t farthest(std::uint32_t to, std::uint32_t reach) const {
    const std::uint32_t first = to / reach * reach;
    const std::uint32_t step = reach / arity_;  // terminals below each of that switch's ports
    return (to - first) / step == 0 ? first + (arity_ - 1) * step : first;
  }

  std::uint32_t arity_ = 1;
  std::uint32_t levels_ = 0;
  std::vector<std::uint64_t> ways_;  // by destination and by the number of switches that lead up
};

}  // namespace gasmeter::sim
