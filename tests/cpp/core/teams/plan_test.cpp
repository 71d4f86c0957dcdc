// Every algorithm against a plain model of messages: ranks run in any order, and mail is kept until it is wanted.
#include "gasmeter/core/teams/plan.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstring>
#include <map>
#include <random>
#include <set>
#include <vector>

#include "gasmeter/base/error.hpp"
#include "gasmeter/core/teams/algorithms.hpp"
#include "support/effort.hpp"

namespace gasmeter::core::teams::plan_test {
namespace {

using Memory = std::vector<std::byte>;

// A product of matrices of 32-bit numbers: associative, but commutative only for circulant matrices.
struct Matrix {
  std::uint32_t a, b, c, d;
  bool operator==(const Matrix&) const = default;
};
Matrix operator*(const Matrix& x, const Matrix& y) {
  return {x.a * y.a + x.b * y.c, x.a * y.b + x.b * y.d, x.c * y.a + x.d * y.c, x.c * y.b + x.d * y.d};
}

struct Member {
  Call call;
  Memory source;
  Memory result;
  Memory temporary;
  std::uint32_t round = 0;
  Steps waiting;  // receives
  bool is_done = false;
};

class Model {
 public:
  explicit Model(std::vector<Member> members, std::uint64_t seed) : members_(std::move(members)), random_(seed) {
    mail_.resize(members_.size());
    seen_.resize(members_.size());
    for (Member& member : members_) member.temporary.resize(temporary_bytes(member.call), std::byte{0xee});
  }

  // Run until all members are done. Return false if they wait for each other, or if mail is left.
  bool run() {
    for (;;) {
      bool moved = false;
      bool all_done = true;
      const std::size_t first = random_() % members_.size();
      for (std::size_t i = 0; i < members_.size(); ++i) {
        Member& member = members_[(first + i) % members_.size()];
        if (member.is_done) continue;
        all_done = false;
        moved |= move(member);
      }
      if (all_done) break;
      if (!moved) return false;
    }
    for (const auto& box : mail_) {
      if (!box.empty()) return false;
    }
    return true;
  }
  [[nodiscard]] const Member& member(std::size_t rank) const { return members_[rank]; }

 private:
  static Memory& memory(Member& member, Place place) {
    return place == Place::source ? member.source : place == Place::result ? member.result : member.temporary;
  }
  static std::byte* at(Member& member, Spot spot, Bytes bytes) {
    Memory& where = memory(member, spot.place);
    REQUIRE(spot.at + bytes <= where.size());
    return where.data() + spot.at;
  }

  bool move(Member& member) {
    auto& box = mail_[member.call.self];
    for (auto step = member.waiting.begin(); step != member.waiting.end();) {
      const auto mail = box.find(step->tag);
      if (mail == box.end()) {
        ++step;
        continue;
      }
      REQUIRE(mail->second.first == step->peer);
      REQUIRE(mail->second.second.size() == step->bytes);
      if (step->bytes != 0) {
        std::memcpy(at(member, step->to, step->bytes), mail->second.second.data(), step->bytes);
      }
      box.erase(mail);
      step = member.waiting.erase(step);
    }
    if (!member.waiting.empty()) return false;
    Steps steps;
    if (!fill_round(member.call, member.round++, steps)) {
      member.is_done = true;
      return true;
    }
    check_round(steps);
    for (const Step& step : steps) act(member, step);
    return true;
  }

  void act(Member& member, const Step& step) {
    switch (step.act) {
      case Act::send: {
        const std::byte* const from = step.bytes != 0 ? at(member, step.from, step.bytes) : nullptr;
        REQUIRE(step.peer < members_.size());
        REQUIRE(step.peer != member.call.self);
        REQUIRE(seen_[step.peer].insert(step.tag).second);  // every message has its own tag
        mail_[step.peer][step.tag] = {member.call.self, from != nullptr ? Memory(from, from + step.bytes) : Memory()};
        break;
      }
      case Act::receive:
        member.waiting.push_back(step);
        break;
      case Act::copy:
        if (step.bytes != 0) {
          std::memmove(at(member, step.to, step.bytes), at(member, step.from, step.bytes), step.bytes);
        }
        break;
      default: {
        REQUIRE(step.bytes % sizeof(Matrix) == 0);
        for (Bytes i = 0; i < step.bytes; i += sizeof(Matrix)) {
          Matrix to;
          Matrix from;
          std::memcpy(&to, at(member, {step.to.place, step.to.at + i}, sizeof to), sizeof to);
          std::memcpy(&from, at(member, {step.from.place, step.from.at + i}, sizeof from), sizeof from);
          to = step.act == Act::combine_left ? from * to : to * from;
          std::memcpy(at(member, {step.to.place, step.to.at + i}, sizeof to), &to, sizeof to);
        }
      }
    }
  }

  // Check that a round either communicates or works, and that received data touch no other memory of the round.
  static void check_round(const Steps& steps) {
    const auto talks = [](const Step& step) { return step.act == Act::send || step.act == Act::receive; };
    std::set<std::pair<std::uint32_t, std::uint32_t>> sent;
    for (const Step& step : steps) {
      REQUIRE(talks(step) == talks(steps.front()));
      if (step.act == Act::send) REQUIRE(sent.insert({step.peer, step.tag}).second);
      if (step.act != Act::receive || step.bytes == 0) continue;
      for (const Step& other : steps) {
        if (&other == &step || other.bytes == 0) continue;
        const Spot spot = other.act == Act::send ? other.from : other.to;
        if (spot.place != step.to.place) continue;
        REQUIRE((spot.at + other.bytes <= step.to.at || step.to.at + step.bytes <= spot.at));
      }
    }
  }

  std::vector<Member> members_;
  std::vector<std::map<std::uint32_t, std::pair<std::uint32_t, Memory>>> mail_;
  std::vector<std::set<std::uint32_t>> seen_;
  std::mt19937_64 random_;
};

Matrix element_of(std::uint32_t rank, std::size_t i, bool circulant) {
  const auto x = static_cast<std::uint32_t>(rank * 7 + i * 3 + 2);
  const auto y = static_cast<std::uint32_t>(rank * 5 + i + 1);
  return circulant ? Matrix{x, y, y, x} : Matrix{x, y, y + 1, x * 3};
}

// One collective of n ranks with blocks of `count` matrices. in_place: result == source where that is legal.
struct Trial {
  Collective collective;
  Algorithm algorithm;
  std::uint32_t ranks;
  std::uint32_t root;
  std::size_t count;
  const std::vector<Nodes>* nodes = nullptr;
};

bool keeps_order(Algorithm algorithm) {
  return algorithm != Algorithm::ring && algorithm != Algorithm::hierarchical;  // node mates need not be neighbours
}

Memory bytes_of(const std::vector<Matrix>& matrices) {
  Memory memory(matrices.size() * sizeof(Matrix));
  if (!memory.empty()) std::memcpy(memory.data(), matrices.data(), memory.size());
  return memory;
}

// Return a rank's contribution; exchange: n blocks.
std::vector<Matrix> contribution(const Trial& t, std::uint32_t rank) {
  std::vector<Matrix> mine;
  const bool circulant = !keeps_order(t.algorithm) || t.root != 0;
  const std::size_t blocks = t.collective == Collective::exchange ? t.ranks : 1;
  for (std::size_t i = 0; i < blocks * t.count; ++i) mine.push_back(element_of(rank, i, circulant));
  return mine;
}

// Return a rank's expected result; empty: it gets none.
std::vector<Matrix> expected(const Trial& t, std::uint32_t rank) {
  std::vector<Matrix> result;
  const auto all_of = [&](std::uint32_t from) { return contribution(t, from); };
  const auto product = [&](std::uint32_t last) {
    std::vector<Matrix> all = all_of(0);
    for (std::uint32_t other = 1; other <= last; ++other) {
      const auto theirs = all_of(other);
      for (std::size_t i = 0; i < t.count; ++i) all[i] = all[i] * theirs[i];
    }
    return all;
  };
  switch (t.collective) {
    case Collective::barrier:
      return {};
    case Collective::broadcast:
      return all_of(t.root);
    case Collective::reduce:
      return rank == t.root ? product(t.ranks - 1) : result;
    case Collective::reduce_all:
      return product(t.ranks - 1);
    case Collective::scan:
      return product(rank);
    case Collective::gather:
      if (rank != t.root) return {};
      [[fallthrough]];
    case Collective::gather_all:
      for (std::uint32_t other = 0; other < t.ranks; ++other) {
        const auto theirs = all_of(other);
        result.insert(result.end(), theirs.begin(), theirs.end());
      }
      return result;
    case Collective::exchange:
      for (std::uint32_t other = 0; other < t.ranks; ++other) {
        const auto theirs = all_of(other);
        for (std::size_t i = 0; i < t.count; ++i) result.push_back(theirs[rank * t.count + i]);
      }
      return result;
  }
  return result;
}

void try_plan(const Trial& t, std::uint64_t seed) {
  std::vector<Member> members;
  for (std::uint32_t rank = 0; rank < t.ranks; ++rank) {
    Member member;
    member.call = {t.collective,
                   t.algorithm,
                   rank,
                   t.ranks,
                   t.root,
                   t.count * sizeof(Matrix),
                   reduces(t.collective) ? sizeof(Matrix) : 1,
                   t.nodes != nullptr ? &(*t.nodes)[rank] : nullptr};
    const bool gives = t.collective != Collective::broadcast || rank == t.root;
    if (gives) member.source = bytes_of(contribution(t, rank));
    member.result.resize(expected(t, rank).size() * sizeof(Matrix), std::byte{0xdd});
    members.push_back(std::move(member));
  }
  Model model(std::move(members), seed);
  REQUIRE(model.run());
  for (std::uint32_t rank = 0; rank < t.ranks; ++rank) {
    CAPTURE(rank);
    REQUIRE(model.member(rank).result == bytes_of(expected(t, rank)));
  }
}

void try_all(Collective collective) {
  for (const Algorithm algorithm : algorithms_of(collective)) {
    if (algorithm == Algorithm::hierarchical) continue;
    // Sanitizers are slow: with them only some numbers of ranks run, among them both sides of a power of two.
    const bool is_slow = !gasmeter::testing::kSanitizer.empty();
    for (std::uint32_t ranks = 1; ranks <= 33; ranks += is_slow && ranks >= 17 && ranks < 31 ? 7 : 1) {
      for (std::uint32_t root = 0; root < ranks; root += is_rooted(collective) ? (ranks < 9 ? 1 : 5) : ranks) {
        for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{5}, std::size_t{40}}) {
          CAPTURE(name_of(algorithm));
          CAPTURE(ranks);
          CAPTURE(root);
          CAPTURE(count);
          try_plan({collective, algorithm, ranks, root, count}, ranks * 1000 + root);
        }
      }
    }
  }
}

TEST_CASE("barrier_plans") {
  try_all(Collective::barrier);
}
TEST_CASE("broadcast_plans") {
  try_all(Collective::broadcast);
}
TEST_CASE("reduce_plans") {
  try_all(Collective::reduce);
}
TEST_CASE("reduce_all_plans") {
  try_all(Collective::reduce_all);
}
TEST_CASE("exchange_plans") {
  try_all(Collective::exchange);
}
TEST_CASE("gather_plans") {
  try_all(Collective::gather);
}
TEST_CASE("gather_all_plans") {
  try_all(Collective::gather_all);
}
TEST_CASE("scan_plans") {
  try_all(Collective::scan);
}

TEST_CASE("scan_in_segments") {
  // Several segments of 16 KiB, the last one shorter.
  try_plan({Collective::scan, Algorithm::chain, 5, 0, 2500}, 1);
}

// Return nodes of the given sizes, with ranks 0.. in blocks or dealt in turn.
std::vector<Nodes> nodes_of(const std::vector<std::uint32_t>& sizes, bool dealt) {
  std::vector<std::vector<std::uint32_t>> members(sizes.size());
  std::uint32_t next = 0;
  if (dealt) {
    for (bool any = true; any;) {
      any = false;
      for (std::size_t node = 0; node < sizes.size(); ++node) {
        if (members[node].size() == sizes[node]) continue;
        members[node].push_back(next++);
        any = true;
      }
    }
  } else {
    for (std::size_t node = 0; node < sizes.size(); ++node) {
      while (members[node].size() < sizes[node]) members[node].push_back(next++);
    }
  }
  std::vector<Nodes> all(next);
  for (const auto& mates : members) {
    for (const std::uint32_t rank : mates) {
      all[rank].count = static_cast<std::uint32_t>(sizes.size());
      all[rank].mates = mates;
      for (const auto& others : members) all[rank].leaders.push_back(others.front());
    }
  }
  return all;
}

TEST_CASE("hierarchical_plans") {
  for (const bool dealt : {false, true}) {
    for (const std::vector<std::uint32_t>& sizes : std::vector<std::vector<std::uint32_t>>{
             {1}, {4}, {1, 1}, {3, 1, 2}, {2, 2, 2, 2, 2}, {1, 8, 1}, {5, 5, 5, 1}}) {
      const std::vector<Nodes> nodes = nodes_of(sizes, dealt);
      CAPTURE(sizes.size());
      CAPTURE(dealt);
      const auto ranks = static_cast<std::uint32_t>(nodes.size());
      try_plan({Collective::barrier, Algorithm::hierarchical, ranks, 0, 0, &nodes}, ranks);
      for (const std::size_t count : {0U, 1U, 5U}) {
        try_plan({Collective::reduce_all, Algorithm::hierarchical, ranks, 0, count, &nodes}, ranks + count);
      }
    }
  }
  // Equal nodes are not listed.
  std::vector<Nodes> nodes(12);
  for (std::uint32_t rank = 0; rank < 12; ++rank) {
    const std::uint32_t leader = rank / 4 * 4;
    nodes[rank] = {3, 4, {}, {leader, leader + 1, leader + 2, leader + 3}};
  }
  try_plan({Collective::barrier, Algorithm::hierarchical, 12, 0, 0, &nodes}, 12);
  try_plan({Collective::reduce_all, Algorithm::hierarchical, 12, 0, 3, &nodes}, 12);
}

// No rank's barrier ends before every rank's has begun: if one rank never begins, no rank finishes.
TEST_CASE("barrier_plans_wait_for_every_rank") {
  for (std::uint32_t ranks = 2; ranks <= 33; ++ranks) {
    for (std::uint32_t late = 0; late < ranks; late += 3) {
      // heard[r] is the set of ranks whose messages have reached rank r, by any path.
      std::vector<std::uint64_t> heard(ranks);
      for (std::uint32_t rank = 0; rank < ranks; ++rank) heard[rank] = rank == late ? 0 : std::uint64_t{1} << rank;
      Steps steps;
      for (std::uint32_t round = 0;; ++round) {
        std::vector<std::uint64_t> next = heard;
        bool any = false;
        for (std::uint32_t rank = 0; rank < ranks; ++rank) {
          any |= fill_round({Collective::barrier, Algorithm::dissemination, rank, ranks}, round, steps);
          for (const Step& step : steps) {
            if (step.act == Act::receive) next[rank] |= heard[step.peer];
          }
        }
        heard = next;
        if (!any) break;
      }
      const std::uint64_t all_but_late = ((std::uint64_t{1} << ranks) - 1) & ~(std::uint64_t{1} << late);
      for (const std::uint64_t each : heard) CHECK(each == all_but_late);
    }
  }
}

// ---- choice

TEST_CASE("choice_follows_size_and_shape") {
  const auto shape = [](std::uint32_t ranks, double block) {
    Shape result;
    result.ranks = result.nodes = ranks;
    result.block = block;
    return result;
  };
  const auto chosen = [&](Collective collective, std::uint32_t ranks, double block) {
    return cheapest(collective, shape(ranks, block));
  };
  CHECK(chosen(Collective::broadcast, 16, 8) == Algorithm::binomial);
  CHECK(chosen(Collective::broadcast, 16, 1 << 20) == Algorithm::scatter_ring);
  CHECK(chosen(Collective::reduce_all, 16, 8) == Algorithm::recursive_doubling);
  CHECK(chosen(Collective::reduce_all, 16, 1 << 20) == Algorithm::ring);
  CHECK(chosen(Collective::exchange, 256, 8) == Algorithm::bruck);
  CHECK(chosen(Collective::exchange, 256, 1 << 16) == Algorithm::pairwise);
  CHECK(chosen(Collective::gather_all, 32, 8) == Algorithm::dissemination);
  CHECK(chosen(Collective::gather_all, 32, 1 << 20) == Algorithm::ring);
  CHECK(chosen(Collective::scan, 32, 8) == Algorithm::recursive_doubling);
  CHECK(chosen(Collective::scan, 8, 1 << 24) == Algorithm::chain);
  // Ranks of a node meet in its memory before their leader communicates.
  Shape nodes = shape(64, 0);
  CHECK(cheapest(Collective::barrier, nodes) == Algorithm::dissemination);
  CHECK(cheapest(Collective::reduce_all, nodes) == Algorithm::recursive_doubling);
  nodes.nodes = 8;
  nodes.mates = 8;
  CHECK(cheapest(Collective::barrier, nodes) == Algorithm::hierarchical);
  CHECK(cheapest(Collective::reduce_all, nodes) == Algorithm::hierarchical);
  nodes.nodes = 1;
  nodes.mates = 64;
  CHECK(cheapest(Collective::reduce_all, nodes) == Algorithm::recursive_doubling);
}

// Twice the bytes or ranks never cost less.
TEST_CASE("costs_grow") {
  for (unsigned c = 0; c < 8; ++c) {
    const auto collective = static_cast<Collective>(c);
    for (const Algorithm algorithm : algorithms_of(collective)) {
      CAPTURE(name_of(collective));
      CAPTURE(name_of(algorithm));
      const Rules& rules = rules_of(collective, algorithm);
      for (std::uint32_t ranks = 2; ranks <= 4096; ranks *= 2) {
        for (double block = 0; block < 1e8; block = 4 * block + 8) {
          Shape shape;
          shape.ranks = shape.nodes = ranks;
          shape.block = block;
          const double cost = rules.cost(shape);
          CHECK(cost > 0);
          shape.block = 2 * block;
          CHECK(rules.cost(shape) >= cost);
          shape.block = block;
          shape.ranks = shape.nodes = 2 * ranks;
          CHECK(rules.cost(shape) >= cost);
        }
      }
    }
  }
}

TEST_CASE("algorithms_have_names") {
  for (unsigned c = 0; c < 8; ++c) {
    for (const Algorithm algorithm : algorithms_of(static_cast<Collective>(c))) {
      CHECK(algorithm_named(name_of(algorithm)) == algorithm);
    }
  }
  CHECK_THROWS_WITH_AS((void)algorithm_named("magic"), doctest::Contains("no algorithm 'magic'; there are auto, "),
                       UsageError);
  CHECK_THROWS_WITH_AS((void)rules_of(Collective::barrier, Algorithm::bruck),
                       doctest::Contains("barrier: no algorithm bruck; it has dissemination, hierarchical"),
                       UsageError);
}

}  // namespace
}  // namespace gasmeter::core::teams::plan_test
