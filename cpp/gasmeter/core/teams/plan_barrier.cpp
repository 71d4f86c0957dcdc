#include "gasmeter/core/teams/algorithms.hpp"

namespace gasmeter::core::teams::barrier {
namespace {

Bytes no_memory(const Call& /*call*/) {
  return 0;
}

// In round k a rank signals the rank 2^k behind it and is signalled by the rank 2^k before it (Hensgen, Finkel, Manber
// 1988).
bool fill_dissemination(const Call& call, std::uint32_t round, Steps& steps) {
  if (round >= rounds_of_doubling(call.ranks)) return false;
  const std::uint32_t distance = std::uint32_t{1} << round;
  steps.push_back(send((call.self + distance) % call.ranks, round, {}, 0));
  steps.push_back(receive((call.self + call.ranks - distance) % call.ranks, round, {}, 0));
  return true;
}

double dissemination_cost(const Shape& shape) {
  return rounds_of_doubling(shape.ranks) * (shape.nodes > 1 ? 1.0 : shape.near_step);
}

// Node mates signal their leader, leaders disseminate, leaders signal their mates.
bool fill_hierarchical(const Call& call, std::uint32_t round, Steps& steps) {
  const Nodes& nodes = *call.nodes;
  const std::uint32_t leaders = nodes.count;
  const std::uint32_t leader = nodes.mates.front();
  constexpr std::uint32_t kFromMates = 0x10000;
  constexpr std::uint32_t kRelease = 64;
  const std::uint32_t inner = rounds_of_doubling(leaders);
  if (call.self != leader) {
    if (round > 0) return false;
    steps.push_back(send(leader, kFromMates + call.self, {}, 0));
    steps.push_back(receive(leader, kRelease, {}, 0));
    return true;
  }
  if (round == 0) {
    for (const std::uint32_t mate : nodes.mates) {
      if (mate != leader) steps.push_back(receive(mate, kFromMates + mate, {}, 0));
    }
    return true;
  }
  if (round <= inner) {
    const std::uint32_t position = nodes.position_of(call.self);
    const std::uint32_t distance = std::uint32_t{1} << (round - 1);
    steps.push_back(send(nodes.leader((position + distance) % leaders), round, {}, 0));
    steps.push_back(receive(nodes.leader((position + leaders - distance) % leaders), round, {}, 0));
    return true;
  }
  if (round > inner + 1) return false;
  for (const std::uint32_t mate : nodes.mates) {
    if (mate != leader) steps.push_back(send(mate, kRelease, {}, 0));
  }
  return true;
}

// Cost to the leader and back. A leader serves its mates one after the other.
double hierarchical_cost(const Shape& shape) {
  const double one_by_one = shape.link_share * (shape.mates > 2 ? shape.mates - 2 : 0);
  return rounds_of_doubling(shape.nodes) + (shape.mates > 1 ? 2 * shape.near_step * (1 + one_by_one) : 0);
}

}  // namespace

const Rules dissemination{&fill_dissemination, &no_memory, &dissemination_cost};
const Rules hierarchical{&fill_hierarchical, &no_memory, &hierarchical_cost};

}  // namespace gasmeter::core::teams::barrier
