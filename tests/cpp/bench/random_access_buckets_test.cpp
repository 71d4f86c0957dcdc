#include "gasmeter/bench/random_access_buckets.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <random>
#include <vector>

namespace gasmeter::bench::random_access::random_access_buckets_test {
namespace {

// Few owners have places of their own; many share the existing places.
TEST_CASE("fullest_bucket_leaves_with_its_values_in_the_order_in_which_they_came") {
  for (const std::uint32_t owners : {37U, 50'000U}) {
    CAPTURE(owners);
    std::mt19937_64 random(3);
    Buckets buckets(owners);
    std::vector<std::vector<std::uint64_t>> expected(owners);
    // With many owners most values go to few, so that some owners have several.
    const auto any = [&] {
      return static_cast<std::uint32_t>(random() % 3 == 0 ? random() % owners : random() % 37 * (owners / 37));
    };
    std::uint64_t held = 0;
    for (int i = 0; i < 50'000; ++i) {
      // The buckets are nearly empty for some time, then at the look-ahead.
      const std::uint64_t most = i / 5'000 % 2 == 0 ? kLookAhead : 20;
      if (held < most) {
        const std::uint32_t owner = any();
        const std::uint64_t value = random();
        expected[owner].push_back(value);
        ++held;
        REQUIRE(buckets.add(owner, value) == expected[owner].size());
      } else {
        const bool lowest = i % 2 == 0;
        const std::uint32_t owner = lowest ? buckets.lowest_fullest() : buckets.fullest();
        if (i % 16 < 2) {
          const auto fullest = std::max_element(expected.begin(), expected.end(),
                                                [](const auto& a, const auto& b) { return a.size() < b.size(); });
          REQUIRE(fullest->size() == expected[owner].size());
          if (lowest) REQUIRE(fullest == expected.begin() + owner);
        }
        std::array<std::uint64_t, kLookAhead> values;
        // Take all values, or the newest.
        const std::uint32_t part = i % 3 == 0 ? 2 : kLookAhead;
        const std::uint32_t count = buckets.take(owner, values.data(), part);
        REQUIRE(count == std::min<std::size_t>(part, expected[owner].size()));
        REQUIRE(std::equal(values.begin(), values.begin() + count, expected[owner].end() - count));
        held -= count;
        expected[owner].resize(expected[owner].size() - count);
      }
      REQUIRE(buckets.size() == held);
    }
  }
}

TEST_CASE("owner_without_values_has_none_to_take") {
  Buckets buckets(100'000);
  std::array<std::uint64_t, kLookAhead> values;
  CHECK(buckets.take(77'777, values.data()) == 0);
  CHECK(buckets.add(77'777, 1) == 1);
  CHECK(buckets.take(77'777 - 1024, values.data()) == 0);  // an owner of the same chain
  CHECK(buckets.take(77'777, values.data()) == 1);
  CHECK(buckets.size() == 0);
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
}  // namespace gasmeter::bench::random_access::random_access_buckets_test
