#include <algorithm>
#include <bit>
#include <limits>

#include "gasmeter/core/teams/algorithms.hpp"

namespace gasmeter::core::teams {
namespace {

Bytes one_block(const Call& call) {
  return call.block;
}

Step combine(bool left, Spot to, Spot with, Bytes bytes) {
  return {left ? Act::combine_left : Act::combine_right, 0, 0, with, to, bytes};
}

// Pieces travel around the ring and are reduced on the way. Afterwards rank r holds piece r + 1, reduced, in `sum`,
// which began as a copy of the source. Arriving pieces stand at `incoming`. There are 2 (n - 1) rounds.
bool fill_ring_scatter(const Call& call, std::uint32_t round, Place sum, Bytes incoming, Steps& steps) {
  const std::uint32_t n = call.ranks;
  const std::uint32_t turn = round / 2;
  if (turn + 1 >= n) return false;
  const Pieces pieces = Pieces::of(call);
  const std::uint32_t mine = (call.self + n - turn) % n;
  const std::uint32_t theirs = (mine + n - 1) % n;
  const Spot in{Place::temporary, incoming};
  if (round % 2 == 1) {
    steps.push_back(combine(true, {sum, pieces.at(theirs)}, in, pieces.bytes(theirs)));
    return true;
  }
  steps.push_back(send((call.self + 1) % n, turn, {sum, pieces.at(mine)}, pieces.bytes(mine)));
  steps.push_back(receive((call.self + n - 1) % n, turn, in, pieces.bytes(theirs)));
  return true;
}

}  // namespace

namespace reduce {
namespace {

// A rank adds up its subtree, nearest ranks first, and sends the sum to its parent. Temporary memory: the sum (except
// at the root), then an arriving block.
bool fill_binomial(const Call& call, std::uint32_t round, Steps& steps) {
  const std::uint32_t at = relative(call);
  const Spot sum{at == 0 ? Place::result : Place::temporary, 0};
  const Spot in{Place::temporary, at == 0 ? 0 : call.block};
  if (round == 0) {
    steps.push_back(copy(sum, {Place::source, 0}, call.block));
    return true;
  }
  const std::uint32_t bit = (round - 1) / 2;
  const std::uint64_t distance = std::uint64_t{1} << bit;
  if (distance >= call.ranks) return false;
  const bool hands_over = (at & distance) != 0;
  if (hands_over || at + distance >= call.ranks) {  // nothing to add in this round
    if (at % distance != 0) return false;           // sent in an earlier round
    if (!hands_over || (round - 1) % 2 == 1) return !hands_over;
    steps.push_back(send(absolute(call, at - static_cast<std::uint32_t>(distance)), bit, sum, call.block));
    return true;
  }
  if (at % distance != 0) return false;
  if ((round - 1) % 2 == 0) {
    steps.push_back(receive(absolute(call, at + static_cast<std::uint32_t>(distance)), bit, in, call.block));
  } else {
    steps.push_back(combine(false, sum, in, call.block));
  }
  return true;
}

Bytes binomial_memory(const Call& call) {
  return 2 * call.block;
}

double binomial_cost(const Shape& shape) {
  return rounds_of_doubling(shape.ranks) * (1 + 2 * shape.block / shape.half);
}

// Scatter around a ring, then every rank sends its piece to the root. Temporary memory: the sum (except at the root),
// a piece.
bool fill_ring(const Call& call, std::uint32_t round, Steps& steps) {
  const std::uint32_t n = call.ranks;
  const bool is_root = call.self == call.root;
  const Place sum = is_root ? Place::result : Place::temporary;
  if (round == 0) {
    steps.push_back(copy({sum, 0}, {Place::source, 0}, call.block));
    return true;
  }
  if (fill_ring_scatter(call, round - 1, sum, is_root ? 0 : call.block, steps)) return true;
  if (round - 1 != 2 * (n - 1)) return false;
  const Pieces pieces = Pieces::of(call);
  const auto owned_by = [n](std::uint32_t rank) { return (rank + 1) % n; };
  if (!is_root) {
    const std::uint32_t mine = owned_by(call.self);
    steps.push_back(send(call.root, n + mine, {sum, pieces.at(mine)}, pieces.bytes(mine)));
    return true;
  }
  for (std::uint32_t rank = 0; rank < n; ++rank) {
    const std::uint32_t piece = owned_by(rank);
    if (rank != call.self) steps.push_back(receive(rank, n + piece, {sum, pieces.at(piece)}, pieces.bytes(piece)));
  }
  return true;
}

Bytes ring_memory(const Call& call) {
  return call.block + Pieces::of(call).piece;
}

double ring_cost(const Shape& shape) {
  const double n = shape.ranks;
  const double pieces = (n - 1) / n * shape.block / shape.half;
  return n - 1 + 2 * pieces + 1 + shape.link_share * (n - 2) + pieces;
}

}  // namespace

const Rules binomial{&fill_binomial, &binomial_memory, &binomial_cost};
const Rules ring{&fill_ring, &ring_memory, &ring_cost};

}  // namespace reduce

namespace reduce_all {
namespace {

// Even ranks among the first 2 (n - 2^k) send their blocks to odd ones. Then 2^k ranks exchange their sums over
// growing distances, and the even ones get the result. Lower ranks are the left operand at both ends of an exchange,
// so that all ranks get the same bits.
struct Doubling {
  std::uint32_t doubled;  // 2^k
  std::uint32_t extra;    // n - 2^k
  [[nodiscard]] static Doubling of(const Call& call) {
    const std::uint32_t doubled = std::bit_floor(call.ranks);
    return {doubled, call.ranks - doubled};
  }
  [[nodiscard]] bool is_folded(std::uint32_t rank) const { return rank < 2 * extra && rank % 2 == 0; }
  [[nodiscard]] std::uint32_t position(std::uint32_t rank) const { return rank < 2 * extra ? rank / 2 : rank - extra; }
  [[nodiscard]] std::uint32_t rank_at(std::uint32_t position) const {
    return position < extra ? 2 * position + 1 : position + extra;
  }
};

constexpr std::uint32_t kFold = 100;
constexpr std::uint32_t kUnfold = 101;

bool fill_doubling(const Call& call, std::uint32_t round, Steps& steps) {
  const Doubling d = Doubling::of(call);
  const Spot sum{Place::result, 0};
  const Spot in{Place::temporary, 0};
  if (round == 0) {
    steps.push_back(copy(sum, {Place::source, 0}, call.block));
    return true;
  }
  const bool is_paired = call.self < 2 * d.extra;
  if (d.is_folded(call.self)) {
    if (round > 2) return false;
    steps.push_back(round == 1 ? send(call.self + 1, kFold, sum, call.block)
                               : receive(call.self + 1, kUnfold, sum, call.block));
    return true;
  }
  if (round <= 2) {
    if (!is_paired) return true;
    steps.push_back(round == 1 ? receive(call.self - 1, kFold, in, call.block) : combine(true, sum, in, call.block));
    return true;
  }
  const std::uint32_t turn = (round - 3) / 2;
  const std::uint32_t turns = rounds_of_doubling(d.doubled);
  if (turn < turns) {
    const std::uint32_t position = d.position(call.self);
    const std::uint32_t other = position ^ (std::uint32_t{1} << turn);
    if ((round - 3) % 2 == 0) {
      steps.push_back(send(d.rank_at(other), turn, sum, call.block));
      steps.push_back(receive(d.rank_at(other), turn, in, call.block));
    } else {
      steps.push_back(combine(other < position, sum, in, call.block));
    }
    return true;
  }
  if (round != 3 + 2 * turns || !is_paired) return false;
  steps.push_back(send(call.self - 1, kUnfold, sum, call.block));
  return true;
}

// Return the number of a rank's rounds in fill_doubling().
std::uint32_t doubling_rounds(const Call& call) {
  const Doubling d = Doubling::of(call);
  if (d.is_folded(call.self)) return 3;
  return 3 + 2 * rounds_of_doubling(d.doubled) + (call.self < 2 * d.extra ? 1 : 0);
}

// Node mates send their blocks to the leader, leaders run fill_doubling(), leaders send the result to their mates.
// Temporary memory of a leader: a block from each mate.
bool fill_hierarchical(const Call& call, std::uint32_t round, Steps& steps) {
  constexpr std::uint32_t kFromMates = 0x10000;
  constexpr std::uint32_t kRelease = 102;
  const Nodes& nodes = *call.nodes;
  const std::uint32_t leader = nodes.mates.front();
  const Spot sum{Place::result, 0};
  const auto in = [&](std::size_t mate) { return Spot{Place::temporary, (mate - 1) * call.block}; };
  if (round == 0) {
    steps.push_back(copy(sum, {Place::source, 0}, call.block));
    return true;
  }
  if (call.self != leader) {
    if (round > 2) return false;
    steps.push_back(round == 1 ? send(leader, kFromMates + call.self, sum, call.block)
                               : receive(leader, kRelease, sum, call.block));
    return true;
  }
  if (round <= 2) {
    for (std::size_t i = 1; i < nodes.mates.size(); ++i) {
      steps.push_back(round == 1 ? receive(nodes.mates[i], kFromMates + nodes.mates[i], in(i), call.block)
                                 : combine(false, sum, in(i), call.block));
    }
    return true;
  }
  Call among = call;
  among.self = nodes.position_of(call.self);
  among.ranks = nodes.count;
  const std::uint32_t rounds = doubling_rounds(among);
  if (round - 2 < rounds) {
    (void)fill_doubling(among, round - 2, steps);
    for (Step& step : steps) {
      if (step.act == Act::send || step.act == Act::receive) step.peer = nodes.leader(step.peer);
    }
    return true;
  }
  if (round - 2 > rounds) return false;
  for (std::size_t i = 1; i < nodes.mates.size(); ++i) {
    steps.push_back(send(nodes.mates[i], kRelease, sum, call.block));
  }
  return true;
}

Bytes hierarchical_memory(const Call& call) {
  const Nodes& nodes = *call.nodes;
  return call.self == nodes.mates.front() ? std::max<Bytes>(nodes.mates.size() - 1, 1) * call.block : 0;
}

double doubling_cost(const Shape& shape) {
  const double folds = std::has_single_bit(shape.ranks) ? 0 : 2;
  const double turns = rounds_of_doubling(std::bit_floor(shape.ranks));
  const double message = 1 + shape.block / shape.half;
  return (turns + folds) * message + (turns + folds / 2) * shape.block / shape.half;
}

// Cost to the leader and back. A leader receives, adds and sends for one mate after the other. Ranks of one node have
// no leaders.
double hierarchical_cost(const Shape& shape) {
  if (shape.nodes == 1) return std::numeric_limits<double>::infinity();
  Shape leaders = shape;
  leaders.ranks = shape.nodes;
  const double message = 1 + shape.block / shape.half;
  const double mates = shape.mates > 1 ? shape.mates - 1 : 0;
  const double one_by_one = shape.link_share * (mates > 1 ? mates - 1 : 0);
  const double within = mates > 0 ? 2 * shape.near_step * (1 + one_by_one) * message : 0;
  return doubling_cost(leaders) + within + mates * shape.block / shape.half;
}

bool fill_ring(const Call& call, std::uint32_t round, Steps& steps) {
  const std::uint32_t n = call.ranks;
  if (round == 0) {
    steps.push_back(copy({Place::result, 0}, {Place::source, 0}, call.block));
    return true;
  }
  if (fill_ring_scatter(call, round - 1, Place::result, 0, steps)) return true;
  const std::uint32_t turn = round - 1 - 2 * (n - 1);
  if (turn + 1 >= n) return false;
  const Pieces pieces = Pieces::of(call);
  const std::uint32_t mine = (call.self + 1 + n - turn) % n;
  const std::uint32_t theirs = (mine + n - 1) % n;
  steps.push_back(send((call.self + 1) % n, n + turn, {Place::result, pieces.at(mine)}, pieces.bytes(mine)));
  steps.push_back(receive((call.self + n - 1) % n, n + turn, {Place::result, pieces.at(theirs)}, pieces.bytes(theirs)));
  return true;
}

Bytes ring_memory(const Call& call) {
  return Pieces::of(call).piece;
}

double ring_cost(const Shape& shape) {
  const double n = shape.ranks;
  return 2 * (n - 1) + 3 * (n - 1) / n * shape.block / shape.half;
}

}  // namespace

const Rules recursive_doubling{&fill_doubling, &one_block, &doubling_cost};
const Rules hierarchical{&fill_hierarchical, &hierarchical_memory, &hierarchical_cost};
const Rules ring{&fill_ring, &ring_memory, &ring_cost};

}  // namespace reduce_all

namespace scan {
namespace {

// Over growing distances: a rank sends its sum so far to the rank at that distance above it (Hillis, Steele 1986).
bool fill_doubling(const Call& call, std::uint32_t round, Steps& steps) {
  const Spot sum{Place::result, 0};
  const Spot in{Place::temporary, 0};
  if (round == 0) {
    steps.push_back(copy(sum, {Place::source, 0}, call.block));
    return true;
  }
  const std::uint32_t turn = (round - 1) / 2;
  if (turn >= rounds_of_doubling(call.ranks)) return false;
  const std::uint32_t distance = std::uint32_t{1} << turn;
  const bool hears = call.self >= distance;
  if ((round - 1) % 2 == 1) {
    if (hears) steps.push_back(combine(true, sum, in, call.block));
    return true;
  }
  if (call.self + std::uint64_t{distance} < call.ranks) {
    steps.push_back(send(call.self + distance, turn, sum, call.block));
  }
  if (hears) steps.push_back(receive(call.self - distance, turn, in, call.block));
  return true;
}

double doubling_cost(const Shape& shape) {
  return rounds_of_doubling(shape.ranks) * (1 + 2 * shape.block / shape.half);
}

// From rank to rank, segment by segment, so that high ranks work while low ranks do.
constexpr Bytes kSegment = Bytes{16} * 1024;

Bytes segment_of(const Call& call) {
  return std::max<Bytes>(kSegment / std::max<Bytes>(call.element, 1), 1) * call.element;
}

bool fill_chain(const Call& call, std::uint32_t round, Steps& steps) {
  if (round == 0) {
    steps.push_back(copy({Place::result, 0}, {Place::source, 0}, call.block));
    return true;
  }
  const Bytes segment = segment_of(call);
  const std::uint32_t number = (round - 1) / 3;
  const Bytes at = number * segment;
  if (at >= call.block) return false;
  const Bytes bytes = std::min(segment, call.block - at);
  const Spot in{Place::temporary, 0};
  switch ((round - 1) % 3) {
    case 0:
      if (call.self > 0) steps.push_back(receive(call.self - 1, number, in, bytes));
      break;
    case 1:
      if (call.self > 0) steps.push_back(combine(true, {Place::result, at}, in, bytes));
      break;
    default:
      if (call.self + 1 < call.ranks) steps.push_back(send(call.self + 1, number, {Place::result, at}, bytes));
      break;
  }
  return true;
}

Bytes chain_memory(const Call& call) {
  return std::min(segment_of(call), call.block);
}

double chain_cost(const Shape& shape) {
  const double segments = std::max(1.0, shape.block / static_cast<double>(kSegment));
  const double segment = std::min(shape.block, static_cast<double>(kSegment));
  return (shape.ranks - 1 + segments - 1) * (1 + 2 * segment / shape.half);
}

}  // namespace

const Rules recursive_doubling{&fill_doubling, &one_block, &doubling_cost};
const Rules chain{&fill_chain, &chain_memory, &chain_cost};

}  // namespace scan

}  // namespace gasmeter::core::teams
