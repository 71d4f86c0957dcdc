// What is wrong with a network: nodes that are slow, links that are slow, links that are dead. Written behind its
// topology, a slash before each: torus2d:4x4/dead:0-1/slow:5-6x10/slow:3x4.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "gasmeter/sim/slowness.hpp"

namespace gasmeter::sim {

struct SlowNode {
  std::uint32_t node = 0;
  Slowness slowness;  // of all that its software does
};

// Between two vertices, both ways, the smaller one first.
struct FaultyLink {
  std::uint32_t a = 0;
  std::uint32_t b = 0;
  Slowness slowness;  // of its bytes; of a dead one nothing
};

struct Faults {
  std::vector<FaultyLink> dead;  // all in order of their numbers
  std::vector<FaultyLink> slow;
  std::vector<SlowNode> nodes;

  // Of the text from the first slash on. Throws UsageError that says what is wrong, behind `topology`, for what is no
  // fault and for what is named twice.
  static Faults parse(std::string_view text, const std::string& topology);

  [[nodiscard]] bool empty() const { return dead.empty() && slow.empty() && nodes.empty(); }
  [[nodiscard]] std::string name() const;  // canonical text, from the first slash on
};

}  // namespace gasmeter::sim
