// Placement: the node on which each rank runs.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace gasmeter::sim {

class Placement {
 public:
  // Parse "fill", "round-robin", "one-per-node" or "list:0,0,3,1". Throws UsageError that says what is wrong.
  static Placement parse(const std::string& text);

  [[nodiscard]] const std::string& name() const { return name_; }  // canonical text

  // Return the node of each rank.
  // fill: consecutive ranks share a node, `ranks_per_node` of them; 0: as few as fit, ranks / nodes rounded up.
  // round-robin: rank i runs on node i mod nodes. one-per-node: rank i runs on node i. list: as written.
  // Throws UsageError where the nodes do not suffice, a listed node does not exist, the list is not one node per rank,
  // or a node would get more than `ranks_per_node` (0: any number).
  [[nodiscard]] std::vector<std::uint32_t> place(std::uint32_t ranks, std::uint32_t nodes,
                                                 std::uint32_t ranks_per_node = 0) const;

 private:
  enum class Kind { fill, round_robin, one_per_node, list };

  Placement(Kind kind, std::string name) : kind_(kind), name_(std::move(name)) {}
  static Placement parse_list(const std::string& text);
  [[nodiscard]] std::vector<std::uint32_t> assign(std::uint32_t ranks, std::uint32_t nodes,
                                                  std::uint32_t ranks_per_node) const;

  Kind kind_;
  std::string name_;
  std::vector<std::uint32_t> listed_;
};

}  // namespace gasmeter::sim
