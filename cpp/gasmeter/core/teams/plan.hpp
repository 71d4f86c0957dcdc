// What each rank of a team does in a collective: pure functions of the call, so that every algorithm is tested against
// a plain model of messages without an endpoint. The executor (operation.hpp) carries plans out.
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
  exchange,    // all-to-all
  gather,      // to one rank
  gather_all,
  scan,  // inclusive: rank r gets the reduction of 0..r
};
[[nodiscard]] const char* name_of(Collective collective);

enum class Algorithm : std::uint8_t {
  automatic,
  dissemination,       // barrier, gather_all (Bruck 1997)
  hierarchical,        // barrier, reduce_all: node mates to a leader, leaders among themselves
  binomial,            // broadcast, reduce, gather: a tree of 2^k
  scatter_ring,        // broadcast: scattered by a tree, gathered around a ring (van de Geijn)
  ring,                // reduce, reduce_all (scattered around a ring, then gathered), gather_all
  recursive_doubling,  // reduce_all, scan
  pairwise,            // exchange: every pair directly
  bruck,               // exchange: in log2 n steps, blocks travel together
  linear,              // gather: everybody to the root
  chain,               // scan: from rank to rank, in segments
};
[[nodiscard]] const char* name_of(Algorithm algorithm);
// Throws UsageError for a name that no algorithm has.
[[nodiscard]] Algorithm algorithm_named(const std::string& name);
// Those that do it, the simplest first.
[[nodiscard]] const std::vector<Algorithm>& algorithms_of(Collective collective);
[[nodiscard]] bool is_rooted(Collective collective);
[[nodiscard]] bool reduces(Collective collective);

// Which members share a node, as far as hierarchical algorithms need it.
struct Nodes {
  std::uint32_t count = 1;
  std::uint32_t stride = 1;            // leaders are 0, stride, 2 stride, … unless they are listed
  std::vector<std::uint32_t> leaders;  // lowest member of each node, ascending
  std::vector<std::uint32_t> mates;    // of this rank's node, ascending; the first is the leader

  [[nodiscard]] std::uint32_t leader(std::uint32_t position) const {
    return leaders.empty() ? position * stride : leaders[position];
  }
  [[nodiscard]] std::uint32_t position_of(std::uint32_t leader) const;
};

// One collective as one member sees it; all members agree on everything but `self` and the node mates.
struct Call {
  Collective collective{};
  Algorithm algorithm{};
  std::uint32_t self = 0;
  std::uint32_t ranks = 1;
  std::uint32_t root = 0;
  Bytes block = 0;    // of one rank: what it contributes or gets; exchange: what it sends to each
  Bytes element = 1;  // reductions: bytes of one element, block is a multiple
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
// Of the messages that a member gets in one collective every one has a tag of its own, and of those it sends to one
// member, too.
struct Step {
  Act act{};
  std::uint32_t peer = 0;
  std::uint32_t tag = 0;
  Spot from;
  Spot to;
  Bytes bytes = 0;
};
using Steps = std::vector<Step>;

// Fills in the steps of a round; false: there is no such round. A round either communicates (its sends and receives are
// under way together, and none touches memory that another one receives into) or works locally, in order. The next one
// begins when all of it is done.
[[nodiscard]] bool fill_round(const Call& call, std::uint32_t round, Steps& steps);
// Bytes of temporary memory that a member needs.
[[nodiscard]] Bytes temporary_bytes(const Call& call);

// ceil(log2 n): rounds of everything that doubles.
[[nodiscard]] constexpr std::uint32_t rounds_of_doubling(std::uint32_t n) {
  std::uint32_t rounds = 0;
  while ((std::uint64_t{1} << rounds) < n) ++rounds;
  return rounds;
}

}  // namespace gasmeter::core::teams
