// Faults of a network: slow nodes, slow links, dead links. The text stands behind the topology, a slash before each
// fault: torus2d:4x4/dead:0-1/slow:5-6x10/slow:3x4.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "gasmeter/sim/topology/slowness.hpp"

namespace gasmeter::sim {

struct SlowNode {
  std::uint32_t node = 0;
  Slowness slowness;  // factor of all software on the node
};

// A link between two vertices, both ways; the smaller vertex is first.
struct FaultyLink {
  std::uint32_t a = 0;
  std::uint32_t b = 0;
  Slowness slowness;  // factor of the time for bytes; without meaning for a dead link
};

struct Faults {
  std::vector<FaultyLink> dead;  // all in order of their numbers
  std::vector<FaultyLink> slow;
  std::vector<SlowNode> nodes;

  // Parse the text from the first slash on. Throws UsageError, whose text begins with `topology` and says what is
  // wrong, for words that are no faults and for faults that are named twice.
  static Faults parse(std::string_view text, const std::string& topology);

  [[nodiscard]] bool empty() const { return dead.empty() && slow.empty() && nodes.empty(); }
  [[nodiscard]] std::string name() const;  // canonical text, from the first slash on
};

}  // namespace gasmeter::sim
