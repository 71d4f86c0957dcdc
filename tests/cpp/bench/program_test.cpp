#include "gasmeter/bench/program.hpp"

#include <doctest/doctest.h>

#include <cmath>

namespace gasmeter::bench::program_test {
namespace {

TEST_CASE("operations_that_take_no_time_have_no_rate") {
  BlockResult result{{}, 3, {}, 0};
  result.add_rate();
  result.add_bandwidth(8);
  for (const auto& [name, value] : result.metrics) {
    CAPTURE(name);
    CHECK(std::isnan(value));
  }
  BlockResult timed{SimTime{1'000'000'000'000}, 3, {}, 0};
  timed.add_rate();
  timed.add_bandwidth(8);
  CHECK(timed.metrics[0].second == 3.0);
  CHECK(timed.metrics[1].second == 24.0);
}

}  // namespace
}  // namespace gasmeter::bench::program_test
