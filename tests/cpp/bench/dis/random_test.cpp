#include "gasmeter/bench/dis/random.hpp"

#include <doctest/doctest.h>

#include <array>
#include <vector>

namespace gasmeter::bench::dis::random_test {
namespace {

// Park and Miller, "Random number generators: good ones are hard to find", 1988.
TEST_CASE("minimal_standard_comes_to_its_published_number") {
  MinimalStandard standard(1);
  for (int i = 0; i < 9999; ++i) (void)standard.next();
  CHECK(standard.next() == 1043618065);
}

TEST_CASE("shuffled_numbers_are_those_of_the_plain_sequence_in_another_order") {
  Random random(-1);
  MinimalStandard standard(1);
  std::vector<std::int64_t> plain(1 << 12);
  for (std::int64_t& each : plain) each = standard.next();
  // Computed by hand: eight numbers are dropped, and the table is filled from its end. The table's first place, the
  // fortieth number, chooses first.
  std::array<std::int64_t, 32> table{};
  for (std::size_t i = 0; i < 32; ++i) table[31 - i] = plain[8 + i];
  std::int64_t last = table[0];
  for (std::size_t i = 40; i < plain.size(); ++i) {
    const auto place = static_cast<std::size_t>(last / 67108864);
    last = table[place];
    table[place] = plain[i];
    REQUIRE(random.next() == last);
  }
}

TEST_CASE("integers_reach_both_ends_and_are_spread_evenly") {
  Random random(-12345);
  std::array<int, 7> times{};
  for (int i = 0; i < 70'000; ++i) {
    const std::int64_t value = random.integer(-3, 3);
    REQUIRE(value >= -3);
    REQUIRE(value <= 3);
    ++times[static_cast<std::size_t>(value + 3)];
  }
  for (const int each : times) CHECK(std::abs(each - 10'000) < 500);  // five standard deviations
  for (int i = 0; i < 1000; ++i) {
    const double value = random.real();
    CHECK(value > 0);
    CHECK(value < 1);
  }
  CHECK(random.integer(5, 5) == 5);
}

TEST_CASE("seeds_are_those_of_dis") {
  CHECK_THROWS_AS(Random(0), UsageError);
  CHECK_THROWS_AS(Random(-2147483647), UsageError);  // nothing but zeros would come
  CHECK(Random(-2147483646).next() > 0);
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    const std::int64_t mapped = seed_of(seed);
    CHECK(mapped <= -1);
    CHECK(mapped >= -2147483646);
    CHECK(mapped != seed_of(seed, 1));
  }
}

}  // namespace
}  // namespace gasmeter::bench::dis::random_test
