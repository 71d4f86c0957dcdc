// Gets over messages, by Medium or by Long replies; tests/golden/ideal.md has the sums.
#include "gasmeter/core/reference/extended.hpp"

#include <doctest/doctest.h>

#include <cstring>
#include <vector>

#include "support/extoll_installation.hpp"
#include "support/model_world.hpp"
#include "support/pattern.hpp"

namespace gasmeter::core::extended_test {
namespace {

using sim::ModelHost;
using testing::ModelShape;

class SmallMediums {
 public:
  static sim::EngineOptions options(const ModelShape& shape) { return testing::IdealInstallation::options(shape); }
  SmallMediums(sim::Engine& engine, const ModelShape& /*shape*/) : network_(engine) {}
  [[nodiscard]] std::unique_ptr<conduit::Conduit> conduit(ModelHost host) {
    return std::make_unique<networks::ideal::IdealConduit>(network_, host, host.rank(),
                                                           networks::ideal::IdealOptions{.medium = 512});
  }

 private:
  networks::ideal::IdealNetwork network_;
};

// Return the time in which rank 0 gets from the beginning of rank 1's segment at time 0, while rank 1 polls from 0 on.
// Time 0 excludes registrations, which may have moved clocks.
template <class Installation>
SimTime time_of_get(Bytes bytes, bool into_segment, bool strict = false) {
  testing::ModelWorldOn<Installation> world({.strict = strict, .ring_bytes = 64 * 1024});
  std::vector<std::byte> elsewhere(bytes);
  SimTime time;
  const std::uint64_t done = 1;
  testing::write_pattern(world.endpoint(1).segment().address, bytes, 3);
  world.run([&](Endpoint<ModelHost>& endpoint) {
    std::byte* const flag = endpoint.segment(Rank{1}).address + endpoint.segment(Rank{1}).size - sizeof done;
    if (endpoint.rank() == Rank{1}) {
      endpoint.wait_until([&] { return std::memcmp(flag, &done, sizeof done) == 0; });
      return;
    }
    const SimTime begin = endpoint.host().now();
    std::byte* const to = into_segment ? endpoint.segment().address + 8 : elsewhere.data();
    endpoint.get(Rank{1}, to, endpoint.segment(Rank{1}).address, bytes);
    time = endpoint.host().now() - begin;
    CHECK(testing::has_pattern(to, bytes, 3));
    endpoint.put(Rank{1}, flag, &done, sizeof done);
  });
  return time;
}

TEST_CASE("a_get_takes_its_golden_time_by_medium_and_by_long_replies") {
  for (const bool strict : {false, true}) {
    CHECK(time_of_get<SmallMediums>(1000, true, strict).ps == 4'190'000);
    CHECK(time_of_get<SmallMediums>(1000, false, strict).ps == 4'410'000);
  }
  // Up to a Medium the times are equal, and if a Long is no larger.
  CHECK(time_of_get<SmallMediums>(512, true) == time_of_get<SmallMediums>(512, false));
  CHECK(time_of_get<testing::IdealInstallation>(9000, true) == time_of_get<testing::IdealInstallation>(9000, false));
}

TEST_CASE("a_large_get_into_the_segment_takes_less_time_on_extoll") {
  CHECK(time_of_get<testing::ExtollInstallation>(40'000, true) <
        time_of_get<testing::ExtollInstallation>(40'000, false));
  CHECK(time_of_get<testing::ExtollInstallation>(8192, true) == time_of_get<testing::ExtollInstallation>(8192, false));
}

}  // namespace
}  // namespace gasmeter::core::extended_test
