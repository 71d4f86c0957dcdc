// Golden times of packed pieces: tests/golden/ideal.md and extoll.md have the sums.
#include <doctest/doctest.h>

#include "core/vis/four_pieces.hpp"
#include "support/extoll_installation.hpp"
#include "support/model_world.hpp"

namespace gasmeter::core::vis {
namespace {

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

}  // namespace
}  // namespace gasmeter::core::vis
