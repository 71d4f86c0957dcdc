// Golden times of packed pieces; tests/golden/ideal.md and extoll.md have the sums.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <vector>

#include "core/vis/four_pieces.hpp"
#include "gasmeter/core/vis/vis.hpp"
#include "support/extoll_installation.hpp"
#include "support/model_world.hpp"

namespace gasmeter::core::vis::golden_test {
namespace {

using sim::ModelHost;

TEST_CASE("packed_pieces_take_their_golden_time_on_the_toy_network") {
  for (const bool strict : {false, true}) {
    const Times times = put_four_pieces<testing::ModelWorld>(strict);
    CHECK(times.acknowledged.ps == 1'873'200);
    CHECK(times.complete.ps == 3'116'400);
  }
}

TEST_CASE("packed_pieces_take_their_golden_time_on_extoll") {
  for (const bool strict : {false, true}) {
    const Times times = put_four_pieces<testing::ModelWorldOn<testing::ExtollInstallation>>(strict);
    CHECK(times.acknowledged.ps == 1'506'800);
    CHECK(times.complete.ps == 2'394'400);
  }
}

// The toy network, whose interface does puts itself.
class PuttingInterface {
 public:
  static sim::EngineOptions options(const testing::ModelShape& shape) {
    return testing::IdealInstallation::options(shape);
  }
  PuttingInterface(sim::Engine& engine, const testing::ModelShape& /*shape*/) : network_(engine) {}
  [[nodiscard]] std::unique_ptr<conduit::Conduit> conduit(sim::ModelHost host) {
    return std::make_unique<networks::ideal::IdealConduit>(network_, host, host.rank(),
                                                           networks::ideal::IdealOptions{.native_puts = true});
  }

 private:
  networks::ideal::IdealNetwork network_;
};

struct PutTimes {
  std::int64_t returned = 0;  // ps
  std::int64_t leaf = 0;      // 0: no leaf was requested
  std::int64_t root = 0;
  bool operator==(const PutTimes&) const = default;
};

// Rank 0 puts `pieces` pieces, every 8 KiB at both sides, at time 0, and overwrites them as soon as it may.
PutTimes times_of_pieces(Bytes pieces, Bytes bytes, bool is_now, bool strict) {
  constexpr Bytes kDistance = 8192;
  const std::array<Bytes, 1> counts{pieces};
  const std::array<std::ptrdiff_t, 1> strides{kDistance};
  testing::ModelWorldOn<PuttingInterface> world({.strict = strict});
  std::vector<std::byte> source(pieces * kDistance, std::byte{7});
  PutTimes times;
  world.run([&](Endpoint<ModelHost>& endpoint) {
    if (endpoint.rank() == Rank{1}) return;
    std::byte* const remote = endpoint.segment(Rank{1}).address;
    const auto now = [&] { return endpoint.host().now().ps; };
    Vis<ModelHost> vis(endpoint);
    Event leaf = Event::no_op();
    const LocalCompletion local = is_now ? LocalCompletion::now() : LocalCompletion::event(leaf);
    Event root = vis.put_nb(Rank{1}, Strided{remote, strides, source.data(), strides, bytes, counts}, local);
    times.returned = now();
    CHECK(vis.last().mechanism == Mechanism::pieces);
    if (!is_now) {
      endpoint.wait(leaf);
      times.leaf = now();
    }
    std::fill(source.begin(), source.end(), std::byte{0xff});
    endpoint.wait(root);
    times.root = now();
    for (Bytes piece = 0; piece < pieces; ++piece) {
      const std::byte* const arrived = remote + piece * kDistance;
      CHECK(std::all_of(arrived, arrived + bytes, [](std::byte byte) { return byte == std::byte{7}; }));
    }
    CHECK(endpoint.outstanding_operations() == 0);
  });
  return times;
}

TEST_CASE("pieces_that_the_interface_puts_are_complete_at_either_side_in_their_golden_times") {
  for (const bool strict : {false, true}) {
    CHECK(times_of_pieces(2, 1024, false, strict) == PutTimes{400'000, 2'680'000, 4'680'000});
    CHECK(times_of_pieces(2, 1024, true, strict) == PutTimes{624'800, 0, 4'794'800});
    // A piece larger than the interface copies: the call waits until it has been read.
    CHECK(times_of_pieces(1, 8192, true, strict) == PutTimes{8'830'000, 0, 10'830'000});
  }
}

}  // namespace
}  // namespace gasmeter::core::vis::golden_test
