// The mpi conduit over two-sided messages on EXTOLL cards. Golden times: tests/golden/extoll.md has the sums.
#include <doctest/doctest.h>

#include <memory>
#include <vector>

#include "conduit_job.hpp"
#include "gasmeter/networks/extoll/extoll_messages.hpp"
#include "gasmeter/networks/mpi/mpi_conduit.hpp"
#include "gasmeter/services/matched_messages.hpp"

namespace gasmeter::networks::extoll {
namespace {

using namespace testing;

struct MpiWorld : World {
  MpiWorld() : World({}, kRoomy) {
    for (unsigned i = 0; i < 2; ++i) {
      devices.push_back(std::make_unique<ExtollMessages>(port(i), host(i)));
      messages.push_back(std::make_unique<services::MatchedMessages>(host(i), *devices.back(), nullptr,
                                                                     services::MatchingParameters{}));
      conduits.push_back(
          std::make_unique<mpi::MpiConduit<sim::ModelHost>>(host(i), *messages.back(), Rank{i}, engine.ranks()));
    }
  }
  std::vector<std::unique_ptr<ExtollMessages>> devices;
  std::vector<std::unique_ptr<services::MatchedMessages>> messages;
  std::vector<std::unique_ptr<mpi::MpiConduit<sim::ModelHost>>> conduits;
};

TEST_CASE("mpi_short_round_trip_on_extoll_has_its_golden_time") {
  MpiWorld world;
  const gasmeter::testing::RoundTrip found = gasmeter::testing::short_round_trip(world);
  CHECK(found.sent == 194'000);
  CHECK(found.handled == 1'123'600);
  CHECK(found.replied == 1'317'600);
  CHECK(found.answered == 2'247'600);
}

}  // namespace
}  // namespace gasmeter::networks::extoll
