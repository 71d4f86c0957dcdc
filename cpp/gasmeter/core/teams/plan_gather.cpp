#include <algorithm>
#include <bit>

#include "gasmeter/core/teams/algorithms.hpp"

namespace gasmeter::core::teams {

namespace gather {
namespace {

// Blocks stand in the result in the order of ranks. The root's own block may stand there already.
bool fill_linear(const Call& call, std::uint32_t round, Steps& steps) {
  if (round == 0) {
    if (call.self != call.root) {
      steps.push_back(send(call.root, call.self, {Place::source, 0}, call.block));
      return true;
    }
    for (std::uint32_t rank = 0; rank < call.ranks; ++rank) {
      if (rank != call.root) steps.push_back(receive(rank, rank, {Place::result, rank * call.block}, call.block));
    }
    return true;
  }
  if (round > 1 || call.self != call.root) return false;
  steps.push_back(copy({Place::result, call.root * call.block}, {Place::source, 0}, call.block));
  return true;
}

Bytes no_memory(const Call& /*call*/) {
  return 0;
}

double linear_cost(const Shape& shape) {
  const double message = 1 + shape.block / shape.half;
  return message + (shape.ranks - 2.0) * std::max(shape.link_share, shape.block / shape.half);
}

// Blocks of a subtree, counted from the root, follow each other in temporary memory.
std::uint32_t subtree(const Call& call, std::uint32_t at) {
  return at == 0 ? call.ranks : std::min(at & (~at + 1), call.ranks - at);
}

bool fill_binomial(const Call& call, std::uint32_t round, Steps& steps) {
  const std::uint32_t at = relative(call);
  const std::uint32_t span = at == 0 ? std::bit_ceil(call.ranks) : at & (~at + 1);
  switch (round) {
    case 0:
      steps.push_back(copy({Place::temporary, 0}, {Place::source, 0}, call.block));
      return true;
    case 1:
      for (std::uint32_t distance = 1; distance < span; distance *= 2) {
        const std::uint32_t child = at + distance;
        if (child >= call.ranks) break;
        steps.push_back(receive(absolute(call, child), static_cast<std::uint32_t>(std::countr_zero(distance)),
                                {Place::temporary, distance * call.block}, subtree(call, child) * call.block));
      }
      return true;
    case 2:
      if (at != 0) {
        steps.push_back(send(absolute(call, at & (at - 1)), static_cast<std::uint32_t>(std::countr_zero(at)),
                             {Place::temporary, 0}, subtree(call, at) * call.block));
      } else {
        const std::uint32_t behind = call.ranks - call.root;  // ranks root..n-1 come first
        steps.push_back(copy({Place::result, call.root * call.block}, {Place::temporary, 0}, behind * call.block));
        steps.push_back(copy({Place::result, 0}, {Place::temporary, behind * call.block}, call.root * call.block));
      }
      return true;
    default:
      return false;
  }
}

Bytes binomial_memory(const Call& call) {
  return subtree(call, relative(call)) * call.block;
}

double binomial_cost(const Shape& shape) {
  return rounds_of_doubling(shape.ranks) + (shape.ranks - 1.0) * 1.5 * shape.block / shape.half;
}

}  // namespace

const Rules linear{&fill_linear, &no_memory, &linear_cost};
const Rules binomial{&fill_binomial, &binomial_memory, &binomial_cost};

}  // namespace gather

namespace gather_all {
namespace {

// In step k a rank sends its 2^k blocks to the rank 2^k before it. Block i of the temporary memory is that of rank
// self + i.
bool fill_dissemination(const Call& call, std::uint32_t round, Steps& steps) {
  const std::uint32_t n = call.ranks;
  if (round == 0) {
    steps.push_back(copy({Place::temporary, 0}, {Place::source, 0}, call.block));
    return true;
  }
  const std::uint32_t turns = rounds_of_doubling(n);
  if (round <= turns) {
    const std::uint32_t distance = std::uint32_t{1} << (round - 1);
    const Bytes bytes = std::min(distance, n - distance) * call.block;
    steps.push_back(send((call.self + n - distance) % n, round, {Place::temporary, 0}, bytes));
    steps.push_back(receive((call.self + distance) % n, round, {Place::temporary, distance * call.block}, bytes));
    return true;
  }
  if (round > turns + 1) return false;
  const std::uint32_t behind = n - call.self;
  steps.push_back(copy({Place::result, call.self * call.block}, {Place::temporary, 0}, behind * call.block));
  steps.push_back(copy({Place::result, 0}, {Place::temporary, behind * call.block}, call.self * call.block));
  return true;
}

Bytes all_blocks(const Call& call) {
  return call.ranks * call.block;
}

double dissemination_cost(const Shape& shape) {
  return rounds_of_doubling(shape.ranks) + (shape.ranks - 1.0) * 1.5 * shape.block / shape.half;
}

// Blocks travel around the ring: every rank forwards the block it received last.
bool fill_ring(const Call& call, std::uint32_t round, Steps& steps) {
  const std::uint32_t n = call.ranks;
  if (round == 0) {
    steps.push_back(copy({Place::result, call.self * call.block}, {Place::source, 0}, call.block));
    return true;
  }
  if (round >= n) return false;
  const std::uint32_t mine = (call.self + n - (round - 1)) % n;
  const std::uint32_t theirs = (mine + n - 1) % n;
  steps.push_back(send((call.self + 1) % n, round, {Place::result, mine * call.block}, call.block));
  steps.push_back(receive((call.self + n - 1) % n, round, {Place::result, theirs * call.block}, call.block));
  return true;
}

Bytes no_memory(const Call& /*call*/) {
  return 0;
}

double ring_cost(const Shape& shape) {
  return (shape.ranks - 1.0) * (1 + shape.block / shape.half);
}

}  // namespace

const Rules dissemination{&fill_dissemination, &all_blocks, &dissemination_cost};
const Rules ring{&fill_ring, &no_memory, &ring_cost};

}  // namespace gather_all

namespace exchange {
namespace {

// Partners at once: enough to keep links busy, few enough not to flood receivers.
constexpr std::uint32_t kAtOnce = 16;

// In turn i a rank sends to the rank i behind it and receives from the rank i before it.
bool fill_pairwise(const Call& call, std::uint32_t round, Steps& steps) {
  const std::uint32_t n = call.ranks;
  if (round == 0) {
    steps.push_back(copy({Place::result, call.self * call.block}, {Place::source, call.self * call.block}, call.block));
    return true;
  }
  const std::uint32_t first = 1 + (round - 1) * kAtOnce;
  if (first >= n) return false;
  for (std::uint32_t turn = first; turn < std::min(first + kAtOnce, n); ++turn) {
    const std::uint32_t to = (call.self + turn) % n;
    const std::uint32_t from = (call.self + n - turn) % n;
    steps.push_back(receive(from, turn, {Place::result, from * call.block}, call.block));
    steps.push_back(send(to, turn, {Place::source, to * call.block}, call.block));
  }
  return true;
}

Bytes no_memory(const Call& /*call*/) {
  return 0;
}

double pairwise_cost(const Shape& shape) {
  const double partners = shape.ranks - 1.0;
  const double turns = partners / kAtOnce;
  return std::max(turns, 1.0) + partners * std::max(shape.link_share, shape.block / shape.half);
}

// Block i must travel i ranks on. It travels 2^k in step k if bit k of i is set. Temporary memory: all blocks, then
// those that leave in a step, then those that arrive.
constexpr std::uint32_t kStepRounds = 3;

Bytes most_at_once(const Call& call) {
  return (call.ranks + 1) / 2 * call.block;
}

bool fill_bruck(const Call& call, std::uint32_t round, Steps& steps) {
  const std::uint32_t n = call.ranks;
  const Bytes m = call.block;
  const Bytes leaving = n * m;
  const Bytes coming = leaving + most_at_once(call);
  const auto turned = [](Bytes at) { return Spot{Place::temporary, at}; };
  if (round == 0) {
    const std::uint32_t behind = n - call.self;
    steps.push_back(copy(turned(0), {Place::source, call.self * m}, behind * m));
    steps.push_back(copy(turned(behind * m), {Place::source, 0}, call.self * m));
    return true;
  }
  const std::uint32_t turn = (round - 1) / kStepRounds;
  if (turn < rounds_of_doubling(n)) {
    const std::uint32_t distance = std::uint32_t{1} << turn;
    const std::uint32_t phase = (round - 1) % kStepRounds;
    Bytes packed = 0;
    for (std::uint32_t block = distance; block < n; ++block) {
      if ((block & distance) == 0) continue;
      if (phase == 0) steps.push_back(copy(turned(leaving + packed), turned(block * m), m));
      if (phase == 2) steps.push_back(copy(turned(block * m), turned(coming + packed), m));
      packed += m;
    }
    if (phase == 1) {
      steps.push_back(send((call.self + distance) % n, turn, turned(leaving), packed));
      steps.push_back(receive((call.self + n - distance) % n, turn, turned(coming), packed));
    }
    return true;
  }
  if (round - 1 > rounds_of_doubling(n) * kStepRounds) return false;
  for (std::uint32_t block = 0; block < n; ++block) {
    steps.push_back(copy({Place::result, (call.self + n - block) % n * m}, turned(block * m), m));
  }
  return true;
}

Bytes bruck_memory(const Call& call) {
  return call.ranks * call.block + 2 * most_at_once(call);
}

double bruck_cost(const Shape& shape) {
  const double turns = rounds_of_doubling(shape.ranks);
  return turns * (1 + shape.ranks / 2.0 * 2 * shape.block / shape.half);
}

}  // namespace

const Rules pairwise{&fill_pairwise, &no_memory, &pairwise_cost};
const Rules bruck{&fill_bruck, &bruck_memory, &bruck_cost};

}  // namespace exchange

}  // namespace gasmeter::core::teams
