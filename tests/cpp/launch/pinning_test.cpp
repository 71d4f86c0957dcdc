#include "gasmeter/launch/pinning.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <thread>
#include <vector>

#include "gasmeter/base/error.hpp"

namespace gasmeter::launch::pinning_test {
namespace {

const std::vector<int> kAllowed{2, 3, 6, 7};

TEST_CASE("each_rank_gets_the_next_allowed_cpu") {
  const Placement placement = place_ranks(3, kAllowed, "");
  CHECK(placement.cpus == std::vector<int>{2, 3, 6});
  CHECK_FALSE(placement.oversubscribed);
}

TEST_CASE("more_ranks_than_cpus_are_not_pinned_and_marked") {
  const Placement placement = place_ranks(5, kAllowed, "");
  CHECK(placement.cpus == std::vector<int>(5, kNotPinned));
  CHECK(placement.oversubscribed);
}

TEST_CASE("policy_none_pins_nothing_but_still_counts") {
  CHECK(place_ranks(2, kAllowed, "none").cpus == std::vector<int>(2, kNotPinned));
  CHECK_FALSE(place_ranks(4, kAllowed, "none").oversubscribed);
  CHECK(place_ranks(5, kAllowed, "none").oversubscribed);
}

TEST_CASE("policy_list_is_followed_in_its_order") {
  CHECK(place_ranks(3, kAllowed, "7,2-3").cpus == std::vector<int>{7, 2, 3});
  CHECK(place_ranks(1, kAllowed, "7,2-3").cpus == std::vector<int>{7});
  CHECK_FALSE(place_ranks(1, kAllowed, "2,2").oversubscribed);
  CHECK(place_ranks(2, kAllowed, "2,2").oversubscribed);
}

TEST_CASE("wrong_policy_is_one_line_that_names_value_and_choices") {
  for (const char* policy : {"x", "1,", ",", "2-", "-2", "3-2", "99999999999", "4", "2,3"}) {
    CAPTURE(policy);
    try {
      static_cast<void>(place_ranks(3, kAllowed, policy));
      FAIL("must be refused");
    } catch (const UsageError& error) {
      const std::string text = error.what();
      CHECK(text.rfind("GASMETER_PIN=" + std::string(policy) + ": ", 0) == 0);
      CHECK(text.find('\n') == std::string::npos);
    }
  }
  CHECK_THROWS_WITH_AS(static_cast<void>(place_ranks(1, kAllowed, "4")),
                       "GASMETER_PIN=4: CPU 4 may not be used here; allowed are 2-3,6-7", UsageError);
}

TEST_CASE("pinned_thread_may_use_that_cpu_only") {
  const std::vector<int> before = gasmeter::launch::allowed_cpus();
  REQUIRE_FALSE(before.empty());
  CHECK(std::is_sorted(before.begin(), before.end()));
  std::vector<int> pinned;
  std::thread([&] {
    gasmeter::launch::pin_to(before.back());
    pinned = gasmeter::launch::allowed_cpus();
  }).join();
  CHECK(pinned == std::vector<int>{before.back()});
}

}  // namespace
}  // namespace gasmeter::launch::pinning_test
