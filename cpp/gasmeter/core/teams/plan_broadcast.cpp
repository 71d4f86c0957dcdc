#include <algorithm>
#include <bit>

#include "gasmeter/core/teams/algorithms.hpp"

namespace gasmeter::core::teams::broadcast {
namespace {

Bytes no_memory(const Call& /*call*/) {
  return 0;
}

// Return the size of a rank's subtree, itself included: 2^(trailing zeros), cut at the end. The root's subtree is all
// ranks.
std::uint32_t subtree(const Call& call, std::uint32_t at) {
  return at == 0 ? call.ranks : std::min(at & (~at + 1), call.ranks - at);
}

// Call f(child, size of its subtree) for the children of a rank, the largest subtrees first.
template <class F>
void for_each_child(const Call& call, std::uint32_t at, F f) {
  const std::uint32_t span = at == 0 ? std::bit_ceil(call.ranks) : at & (~at + 1);
  for (std::uint32_t distance = span / 2; distance != 0; distance /= 2) {
    const std::uint32_t child = at + distance;
    if (child < call.ranks) f(child, subtree(call, child));
  }
}

// The root sends to the farther half, and both halves continue alike.
bool fill_binomial(const Call& call, std::uint32_t round, Steps& steps) {
  const std::uint32_t at = relative(call);
  if (round == 0) {
    if (at == 0) {
      steps.push_back(copy({Place::result, 0}, {Place::source, 0}, call.block));
    } else {
      steps.push_back(receive(absolute(call, at & (at - 1)), 0, {Place::result, 0}, call.block));
    }
    return true;
  }
  if (round > 1) return false;
  for_each_child(call, at, [&](std::uint32_t child, std::uint32_t /*below*/) {
    steps.push_back(send(absolute(call, child), 0, {Place::result, 0}, call.block));
  });
  return true;
}

double binomial_cost(const Shape& shape) {
  return rounds_of_doubling(shape.ranks) * (1 + shape.block / shape.half);
}

// Piece i belongs to rank i (counted from the root). A tree hands each subtree its pieces, then pieces travel around
// the ring.
bool fill_scatter_ring(const Call& call, std::uint32_t round, Steps& steps) {
  const std::uint32_t n = call.ranks;
  const std::uint32_t at = relative(call);
  const Pieces pieces = Pieces::of(call);
  if (round == 0) {
    if (at == 0) {
      steps.push_back(copy({Place::result, 0}, {Place::source, 0}, call.block));
    } else {
      steps.push_back(receive(absolute(call, at & (at - 1)), 0, {Place::result, pieces.at(at)},
                              pieces.bytes(at, subtree(call, at))));
    }
    return true;
  }
  if (round == 1) {
    for_each_child(call, at, [&](std::uint32_t child, std::uint32_t below) {
      steps.push_back(send(absolute(call, child), 0, {Place::result, pieces.at(child)}, pieces.bytes(child, below)));
    });
    return true;
  }
  const std::uint32_t turn = round - 2;
  if (turn + 1 >= n) return false;
  const std::uint32_t mine = (at + n - turn) % n;
  const std::uint32_t theirs = (mine + n - 1) % n;
  steps.push_back(send(absolute(call, (at + 1) % n), 1 + turn, {Place::result, pieces.at(mine)}, pieces.bytes(mine)));
  steps.push_back(
      receive(absolute(call, (at + n - 1) % n), 1 + turn, {Place::result, pieces.at(theirs)}, pieces.bytes(theirs)));
  return true;
}

double scatter_ring_cost(const Shape& shape) {
  const double n = shape.ranks;
  return rounds_of_doubling(shape.ranks) + n - 1 + 2 * (n - 1) / n * shape.block / shape.half;
}

}  // namespace

const Rules binomial{&fill_binomial, &no_memory, &binomial_cost};
const Rules scatter_ring{&fill_scatter_ring, &no_memory, &scatter_ring_cost};

}  // namespace gasmeter::core::teams::broadcast
