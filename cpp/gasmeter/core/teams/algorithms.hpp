// The algorithms of collectives and their costs. n ranks, m bytes of a block, h the message size at which a message
// takes twice as long as an empty one. The unit of cost is one empty message, so that a message of m bytes costs 1 +
// m/h. A reduction of m bytes costs m/h more, since memory is read and written once again.
#pragma once

#include "gasmeter/core/teams/plan.hpp"

namespace gasmeter::core::teams {

// Parameters of costs.
struct Shape {
  std::uint32_t ranks = 1;
  double block = 0;          // m
  double half = 8192;        // h
  std::uint32_t nodes = 1;   // nodes of the members
  std::uint32_t mates = 1;   // members of the fullest node
  double near_step = 0.25;   // time of a message between node mates, in units of one between nodes
  double link_share = 0.25;  // part of a message's time in which its sender cannot send the next
};

// Functions of an algorithm: rounds, temporary memory, cost.
struct Rules {
  bool (*fill)(const Call&, std::uint32_t round, Steps&);
  Bytes (*temporary)(const Call&);
  double (*cost)(const Shape&);
};
// Throw UsageError if the collective has no such algorithm.
[[nodiscard]] const Rules& rules_of(Collective collective, Algorithm algorithm);

namespace barrier {
extern const Rules dissemination, hierarchical;
}
namespace broadcast {
extern const Rules binomial, scatter_ring;
}
namespace reduce {
extern const Rules binomial, ring;
}
namespace reduce_all {
extern const Rules recursive_doubling, hierarchical, ring;
}
namespace exchange {
extern const Rules pairwise, bruck;
}
namespace gather {
extern const Rules linear, binomial;
}
namespace gather_all {
extern const Rules dissemination, ring;
}
namespace scan {
extern const Rules recursive_doubling, chain;
}

// Return the cheapest algorithm; in a tie, the one listed first.
[[nodiscard]] Algorithm cheapest(Collective collective, const Shape& shape);

// ---- helpers of plans
[[nodiscard]] inline Step send(std::uint32_t peer, std::uint32_t tag, Spot from, Bytes bytes) {
  return {Act::send, peer, tag, from, {}, bytes};
}
[[nodiscard]] inline Step receive(std::uint32_t peer, std::uint32_t tag, Spot to, Bytes bytes) {
  return {Act::receive, peer, tag, {}, to, bytes};
}
[[nodiscard]] inline Step copy(Spot to, Spot from, Bytes bytes) {
  return {Act::copy, 0, 0, from, to, bytes};
}
// Rank counted from the root, and back.
[[nodiscard]] inline std::uint32_t relative(const Call& call) {
  return (call.self + call.ranks - call.root) % call.ranks;
}
[[nodiscard]] inline std::uint32_t absolute(const Call& call, std::uint32_t relative) {
  return (relative + call.root) % call.ranks;
}
// Equal pieces of whole elements. The last ones may be smaller or empty.
struct Pieces {
  Bytes block;
  Bytes piece;
  [[nodiscard]] static Pieces of(const Call& call) {
    const Bytes elements = call.element == 0 ? 0 : call.block / call.element;
    return {call.block, (elements + call.ranks - 1) / call.ranks * call.element};
  }
  [[nodiscard]] Bytes at(std::uint32_t index) const { return index * piece < block ? index * piece : block; }
  [[nodiscard]] Bytes bytes(std::uint32_t first, std::uint32_t count = 1) const {
    return at(first + count) - at(first);
  }
};

}  // namespace gasmeter::core::teams
