// Golden times of pieces, loops and look-ups that have prices; tests/golden/ideal.md has the sums.
#include <doctest/doctest.h>

#include <array>
#include <vector>

#include "core/vis/four_pieces.hpp"
#include "gasmeter/conduit/host_prices.hpp"
#include "gasmeter/core/vis/vis.hpp"
#include "support/model_world.hpp"

namespace gasmeter::core::vis::piece_prices_test {
namespace {

using sim::ModelHost;

// The toy network with prices for pieces, loops and look-ups: 3, 2, 7 and 11 ns.
class PricedIdeal : public testing::IdealInstallation {
 public:
  using IdealInstallation::IdealInstallation;
  static sim::EngineOptions options(const testing::ModelShape& shape) {
    sim::EngineOptions result = IdealInstallation::options(shape);
    conduit::add_piece_prices(result.prices, {{3'000}, {2'000}, {7'000}, {11'000}});
    return result;
  }
};
using PricedWorld = testing::ModelWorldOn<PricedIdeal>;

TEST_CASE("packed_pieces_and_their_loops_are_paid_once_at_each_side") {
  for (const bool strict : {false, true}) {
    const Times times = put_four_pieces<PricedWorld>(strict);
    CHECK(times.acknowledged.ps == 1'850'200);
    CHECK(times.complete.ps == 3'093'400);
  }
}

// Return rank 0's time for one transfer with its neighbour, whose memory it accesses itself.
template <class Move>
SimTime with_a_neighbour(Implementation implementation, bool strict, const Move& move) {
  PricedWorld world({.nodes = 1, .neighbourhood = true, .strict = strict});
  SimTime took;
  world.run([&](Endpoint<ModelHost>& endpoint) {
    if (endpoint.rank() != Rank{0}) return;
    Vis<ModelHost> vis(endpoint, {implementation});
    const SimTime start = endpoint.host().now();
    move(vis, endpoint.segment(Rank{1}).address);
    took = endpoint.host().now() - start;
    CHECK(vis.last().mechanism == Mechanism::direct);
  });
  return took;
}

TEST_CASE("one_loop_is_paid_where_levels_fold_and_each_of_a_nest_where_they_do_not") {
  constexpr std::array<Bytes, 3> kCounts{4, 3, 2};
  constexpr std::array<std::ptrdiff_t, 3> kStrides{16, 64, 192};
  std::array<std::byte, 512> local{};
  const auto put = [&](Vis<ModelHost>& vis, std::byte* remote) {
    vis.put(Rank{1}, Strided{remote, kStrides, local.data(), kStrides, 8, kCounts});
  };
  const auto get = [&](Vis<ModelHost>& vis, std::byte* remote) {
    vis.get(Rank{1}, Strided{local.data(), kStrides, remote, kStrides, 8, kCounts});
  };
  for (const bool strict : {false, true}) {
    CHECK(with_a_neighbour(Implementation::ex, strict, put).ps == 162'200);
    CHECK(with_a_neighbour(Implementation::ex, strict, get).ps == 162'200);
    CHECK(with_a_neighbour(Implementation::gasnet1, strict, put).ps == 487'200);
    CHECK(with_a_neighbour(Implementation::gasnet1, strict, get).ps == 487'200);
  }
}

TEST_CASE("a_list_is_one_loop_whose_addresses_are_looked_up_at_once_or_each") {
  std::array<std::byte, 512> local{};
  const auto put = [&](Vis<ModelHost>& vis, std::byte* remote) {
    const std::vector<void*> to{remote, remote + 24, remote + 200};
    const std::vector<void*> from{&local[8], &local[100], &local[300]};
    vis.put(Rank{1}, Indexed{to, 8, from, 8});
  };
  for (const bool strict : {false, true}) {
    CHECK(with_a_neighbour(Implementation::ex, strict, put).ps == 40'400);
    CHECK(with_a_neighbour(Implementation::gasnet1, strict, put).ps == 62'400);
  }
}

TEST_CASE("pieces_that_are_too_large_for_a_load_and_a_store_are_copies") {
  static constexpr std::array<Bytes, 1> kCounts{2};
  static constexpr std::array<std::ptrdiff_t, 1> kStrides{200};
  std::array<std::byte, 512> local{};
  const auto put = [&](Bytes piece) {
    return [&local, piece](Vis<ModelHost>& vis, std::byte* remote) {
      vis.put(Rank{1}, Strided{remote, kStrides, local.data(), kStrides, piece, kCounts});
    };
  };
  CHECK(with_a_neighbour(Implementation::ex, false, put(64)).ps == 45'800);
  CHECK(with_a_neighbour(Implementation::ex, false, put(65)).ps == 60'000);
}

}  // namespace
}  // namespace gasmeter::core::vis::piece_prices_test
