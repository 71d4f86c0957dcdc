// Teams of 1 to 33 ranks in virtual time: the conformance suite's checks with many ranks, on nodes that hold one rank
// or several, evenly or not.
#include "gasmeter/core/teams/teams.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <numeric>
#include <vector>

#include "gasmeter/core/teams/named_barrier.hpp"
#include "support/effort.hpp"
#include "support/model_world.hpp"

namespace gasmeter::core::teams_test {
namespace {

using sim::ModelHost;
using teams::Algorithm;
using teams::Collective;
using testing::ModelShape;
using testing::ModelWorld;

ModelShape shape_of(unsigned ranks, unsigned nodes, bool neighbourhood) {
  return {.ranks = ranks, .nodes = nodes, .neighbourhood = neighbourhood, .segment_bytes = 4096};
}

// Run body(teams, endpoint) on every rank. Teams exist before any rank sends.
template <class Body>
void on_teams(const ModelShape& shape, Body body) {
  ModelWorld world(shape);
  std::vector<std::unique_ptr<Teams<ModelHost>>> all;
  for (unsigned rank = 0; rank < shape.ranks; ++rank) {
    all.push_back(std::make_unique<Teams<ModelHost>>(world.endpoint(rank)));
  }
  world.run([&](Endpoint<ModelHost>& endpoint) {
    body(*all[index(endpoint.rank())], endpoint);
    endpoint.barrier();
  });
  for (unsigned rank = 0; rank < shape.ranks; ++rank) CHECK(world.endpoint(rank).outstanding_operations() == 0);
}

void wait(Endpoint<ModelHost>& endpoint, Event event) {
  if (!event.is_done()) endpoint.wait(event);
}

TEST_CASE("collectives_of_1_to_33_ranks") {
  const auto add = Reduction::of<std::uint64_t>(ReduceOp::add);
  for (unsigned ranks = 1; ranks <= 33; ranks += testing::kSanitizer.empty() ? 1U : 8U) {
    CAPTURE(ranks);
    on_teams(shape_of(ranks, (ranks + 2) / 3, ranks % 2 == 0), [&](Teams<ModelHost>& teams, auto& endpoint) {
      // Odd and even ranks form separate teams, in reverse order.
      const std::uint32_t self = index(endpoint.rank());
      Team<ModelHost>* const team = teams.split(teams.world(), self % 2, -static_cast<std::int64_t>(self));
      REQUIRE(team != nullptr);
      const std::uint32_t n = team->ranks();
      const std::uint32_t me = team->rank();
      const std::uint32_t root = n / 2;
      for (const std::size_t count : {std::size_t{1}, std::size_t{2000}}) {
        std::vector<std::uint64_t> mine(count, me + 1);
        std::vector<std::uint64_t> all(count);
        std::vector<std::uint64_t> upto(count);
        std::vector<std::uint64_t> blocks(n * count);
        std::vector<std::uint64_t> broadcast_data(count, me == root ? 77 : 0);
        Event reduced = team->reduce_all_nb(all.data(), mine.data(), count, add);
        Event scanned = team->scan_nb(upto.data(), mine.data(), count, add);
        Event gathered = team->gather_all_nb(blocks.data(), mine.data(), count * 8);
        Event broadcast = team->broadcast_nb(root, broadcast_data.data(), broadcast_data.data(), count * 8);
        wait(endpoint, broadcast);
        wait(endpoint, gathered);
        wait(endpoint, scanned);
        wait(endpoint, reduced);
        CHECK(all == std::vector<std::uint64_t>(count, std::uint64_t{n} * (n + 1) / 2));
        CHECK(upto == std::vector<std::uint64_t>(count, std::uint64_t{me + 1} * (me + 2) / 2));
        CHECK(broadcast_data == std::vector<std::uint64_t>(count, 77));
        bool right = true;
        for (std::size_t i = 0; i < blocks.size(); ++i) right &= blocks[i] == i / count + 1;
        CHECK(right);
        std::vector<std::uint64_t> sent(n * count);
        std::iota(sent.begin(), sent.end(), me * 100'000);
        wait(endpoint, team->exchange_nb(blocks.data(), sent.data(), count * 8));
        right = true;
        for (std::size_t i = 0; i < blocks.size(); ++i) {
          right &= blocks[i] == i / count * 100'000 + me * count + i % count;
        }
        CHECK(right);
        std::vector<std::uint64_t> at_root(me == root ? n * count : 0);
        wait(endpoint, team->gather_nb(root, at_root.data(), mine.data(), count * 8));
        right = true;
        for (std::size_t i = 0; i < at_root.size(); ++i) right &= at_root[i] == i / count + 1;
        CHECK(right);
        wait(endpoint, team->reduce_nb(root, all.data(), all.data(), count, add));
        if (me == root) CHECK(all[0] == std::uint64_t{n} * n * (n + 1) / 2);
      }
      (void)teams.destroy(team);
    });
  }
}

// No rank leaves before every rank has entered, whatever the nodes hold.
TEST_CASE("barriers_over_nodes_of_every_size") {
  for (const bool neighbourhood : {false, true}) {
    for (unsigned ranks = 1; ranks <= 33; ranks += 4) {
      for (const unsigned nodes : {1U, 2U, 5U, ranks}) {
        if (nodes > ranks) continue;
        CAPTURE(ranks);
        CAPTURE(nodes);
        CAPTURE(neighbourhood);
        std::vector<unsigned> entered(ranks);
        on_teams(shape_of(ranks, nodes, neighbourhood), [&](Teams<ModelHost>& teams, auto& endpoint) {
          const std::uint32_t self = index(endpoint.rank());
          for (unsigned phase = 1; phase <= 6; ++phase) {
            endpoint.host().spend(SimTime::from_ns((self * 37 + phase * 11) % 50 * 100.0));
            endpoint.host().synchronise();
            entered[self] = phase;
            if (phase % 3 == 0) {
              teams.world().barrier(Algorithm::hierarchical);
            } else {
              teams.world().barrier();
            }
            for (const unsigned each : entered) CHECK(each >= phase);
          }
        });
      }
    }
  }
}

TEST_CASE("barrier_of_many_ranks_a_node_goes_by_leaders") {
  on_teams(shape_of(32, 4, true), [](Teams<ModelHost>& teams, auto& /*endpoint*/) {
    CHECK(teams.world().choice(Collective::barrier, 0) == Algorithm::dissemination);  // nodes are not known yet
    teams.world().barrier();
    CHECK(teams.world().choice(Collective::barrier, 0) == Algorithm::hierarchical);
  });
  on_teams(shape_of(8, 8, false), [](Teams<ModelHost>& teams, auto& /*endpoint*/) {
    teams.world().barrier();
    CHECK(teams.world().choice(Collective::barrier, 0) == Algorithm::dissemination);
  });
}

// tests/golden/ideal.md has the sums.
TEST_CASE("collectives_of_two_ranks_have_their_golden_times") {
  on_teams(shape_of(2, 2, false), [](Teams<ModelHost>& teams, auto& endpoint) {
    wait(endpoint, teams.world().barrier_nb());
    CHECK(endpoint.host().now().ps == 1'485'000);
  });
  on_teams(shape_of(2, 2, false), [](Teams<ModelHost>& teams, auto& endpoint) {
    std::vector<std::byte> source(100);
    std::vector<std::byte> result(100);
    wait(endpoint, teams.world().broadcast_nb(0, result.data(), source.data(), source.size(), Algorithm::binomial));
    CHECK(endpoint.host().now().ps == (index(endpoint.rank()) == 0 ? 265'000 : 1'645'000));
  });
}

TEST_CASE("teams_are_made_once_per_endpoint") {
  ModelWorld world(shape_of(1, 1, true));
  const Teams<ModelHost> teams(world.endpoint(0));
  CHECK_THROWS_AS(Teams<ModelHost>(world.endpoint(0)), UsageError);
}

}  // namespace
}  // namespace gasmeter::core::teams_test
