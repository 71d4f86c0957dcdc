#include "gasmeter/bench/random_access_buckets.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <random>
#include <vector>

namespace gasmeter::bench::random_access {
namespace {

TEST_CASE("fullest_bucket_leaves_with_its_values_in_the_order_in_which_they_came") {
  constexpr std::uint32_t kOwners = 37;
  std::mt19937_64 random(3);
  Buckets buckets(kOwners);
  std::vector<std::vector<std::uint64_t>> expected(kOwners);
  std::uint64_t held = 0;
  for (int i = 0; i < 50'000; ++i) {
    // Now nearly empty, now at the look-ahead.
    const std::uint64_t most = i / 5'000 % 2 == 0 ? kLookAhead : 20;
    if (held < most) {
      const auto owner = static_cast<std::uint32_t>(random() % kOwners);
      const std::uint64_t value = random();
      expected[owner].push_back(value);
      ++held;
      REQUIRE(buckets.add(owner, value) == expected[owner].size());
    } else {
      const std::uint32_t owner = buckets.fullest();
      for (const auto& other : expected) REQUIRE(other.size() <= expected[owner].size());
      std::array<std::uint64_t, kLookAhead> values;
      const std::uint32_t count = buckets.take(owner, values.data());
      REQUIRE(std::vector(values.begin(), values.begin() + count) == expected[owner]);
      held -= count;
      expected[owner].clear();
    }
    REQUIRE(buckets.size() == held);
  }
}

TEST_CASE("one_bucket_takes_the_whole_look_ahead") {
  Buckets buckets(2);
  for (std::uint64_t i = 0; i < kLookAhead; ++i) CHECK(buckets.add(1, i) == i + 1);
  CHECK(buckets.fullest() == 1);
  std::array<std::uint64_t, kLookAhead> values;
  CHECK(buckets.take(1, values.data()) == kLookAhead);
  for (std::uint64_t i = 0; i < kLookAhead; ++i) CHECK(values[i] == i);
  CHECK(buckets.size() == 0);
}

}  // namespace
}  // namespace gasmeter::bench::random_access
