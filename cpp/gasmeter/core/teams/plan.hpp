// Plans: the work of each rank of a team in a collective, as pure functions of the call. Every algorithm can thus be
// tested against a plain model of messages, without an endpoint. The executor (operation.hpp) carries plans out.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "gasmeter/base/units.hpp"

namespace gasmeter::core::teams {

enum class Collective : std::uint8_t {
  barrier,
  broadcast,
  reduce,      // to one rank
  reduce_all,  // to all
  exchange,    // all to all
  gather,      // to one rank
  gather_all,
  scan,  // inclusive: rank r gets the reduction of 0..r
};
[[nodiscard]] const char* name_of(Collective collective);

enum class Algorithm : std::uint8_t {
  automatic,
  dissemination,       // barrier, gather_all (Bruck 1997)
  hierarchical,        // barrier, reduce_all: node mates to a leader, then among leaders
  binomial,            // broadcast, reduce, gather: along a binomial tree
  scatter_ring,        // broadcast: scatter along a tree, then gather around a ring (van de Geijn)
  ring,                // reduce, reduce_all (scatter around a ring, then gather), gather_all
  recursive_doubling,  // reduce_all, scan
  pairwise,            // exchange: every pair directly
  bruck,               // exchange: log2 n steps, in which blocks travel together
  linear,              // gather: all ranks send to the root
  chain,               // scan: from rank to rank, in segments
};
[[nodiscard]] const char* name_of(Algorithm algorithm);
// Throw UsageError for a name that no algorithm has.
[[nodiscard]] Algorithm algorithm_named(const std::string& name);
// Return the algorithms of a collective, the simplest first.
[[nodiscard]] const std::vector<Algorithm>& algorithms_of(Collective collective);
[[nodiscard]] bool is_rooted(Collective collective);
[[nodiscard]] bool reduces(Collective collective);

// Members by node, as far as hierarchical algorithms need them.
struct Nodes {
  std::uint32_t count = 1;
  std::uint32_t stride = 1;            // leaders are 0, stride, 2 stride, … unless `leaders` lists them
  std::vector<std::uint32_t> leaders;  // lowest member of each node, ascending
  std::vector<std::uint32_t> mates;    // members of this rank's node, ascending; the first is the leader

  [[nodiscard]] std::uint32_t leader(std::uint32_t position) const {
    return leaders.empty() ? position * stride : leaders[position];
  }
  [[nodiscard]] std::uint32_t position_of(std::uint32_t leader) const;
};

// One collective as one member sees it. All members agree on every field but `self` and the node mates.
struct Call {
  Collective collective{};
  Algorithm algorithm{};
  std::uint32_t self = 0;
  std::uint32_t ranks = 1;
  std::uint32_t root = 0;
  Bytes block = 0;    // bytes that one rank contributes or gets; exchange: bytes for each other rank
  Bytes element = 1;  // bytes of one element of a reduction; divides `block`
  const Nodes* nodes = nullptr;
};

enum class Place : std::uint8_t { source, result, temporary };
enum class Act : std::uint8_t {
  send,           // [from] to member `peer`
  receive,        // [to] from member `peer`
  copy,           // [from] to [to]
  combine_left,   // [to] = [from] op [to]
  combine_right,  // [to] = [to] op [from]
};
struct Spot {
  Place place = Place::source;
  Bytes at = 0;
};
// A step of a round. All messages that a member receives in one collective have different tags, and so have all that
// it sends to one member.
struct Step {
  Act act{};
  std::uint32_t peer = 0;
  std::uint32_t tag = 0;
  Spot from;
  Spot to;
  Bytes bytes = 0;
};
using Steps = std::vector<Step>;

// Fill in the steps of a round; return false if there is no such round. A round either communicates or works locally,
// in order. Sends and receives of a round are in flight together, and none touches memory that another one receives
// into. The next round begins when the round is done.
[[nodiscard]] bool fill_round(const Call& call, std::uint32_t round, Steps& steps);
// Return the bytes of temporary memory that a member needs.
[[nodiscard]] Bytes temporary_bytes(const Call& call);

// Return ceil(log2 n): the number of rounds of a doubling algorithm.
[[nodiscard]] constexpr std::uint32_t rounds_of_doubling(std::uint32_t n) {
  std::uint32_t rounds = 0;
  while ((std::uint64_t{1} << rounds) < n) ++rounds;
  return rounds;
}

}  // namespace gasmeter::core::teams
