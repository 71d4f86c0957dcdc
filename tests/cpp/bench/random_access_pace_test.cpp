#include "gasmeter/bench/random_access_pace.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

namespace gasmeter::bench::random_access::random_access_pace_test {
namespace {

constexpr SimTime us(std::int64_t count) {
  return {count * 1'000'000};
}

// Note an update every `step_us`, from `begin_us` on.
void run_evenly(Pace& pace, std::uint32_t rank, std::uint64_t updates, std::int64_t begin_us, std::int64_t step_us) {
  pace.begin(rank, updates, us(begin_us));
  for (std::uint64_t i = 1; i <= updates; ++i) {
    pace.add(rank, 1, us(begin_us + static_cast<std::int64_t>(i) * step_us));
  }
}

// Rank 0 has done its 100 at 100 us, when rank 1 has done 25. From 50 to 100 us they do 50 and 12.5: 1.25 a us.
TEST_CASE("rate_is_that_of_all_ranks_in_the_second_half_of_the_time_in_which_all_are_at_it") {
  Pace pace(2);
  run_evenly(pace, 0, 100, 0, 1);
  run_evenly(pace, 1, 100, 0, 4);
  CHECK(pace.rate().value() == doctest::Approx(1.25e6).epsilon(1e-12));
}

// One rank begins at 20 us: all work from 20 to 100 us, and the second half is 60 to 100. In that half it does 10; so
// does the other rank, which takes 1 us an update until 60 and 4 from there on.
TEST_CASE("time_begins_with_the_last_rank_that_begins") {
  Pace pace(2);
  pace.begin(0, 70, us(0));
  for (std::int64_t i = 1; i <= 60; ++i) pace.add(0, 1, us(i));
  for (std::int64_t i = 1; i <= 10; ++i) pace.add(0, 1, us(60 + 4 * i));
  run_evenly(pace, 1, 100, 20, 4);
  CHECK(pace.rate().value() == doctest::Approx(0.5e6).epsilon(1e-12));
}

// A slow first half does not count: 10 updates until 900 us, 100 until 1000 us. Half of the time is 500 us, where 10 *
// 500 / 900 are done.
TEST_CASE("what_starting_costs_is_in_the_first_half") {
  Pace pace(1);
  pace.begin(0, 110, us(0));
  pace.add(0, 10, us(900));
  for (std::int64_t i = 1; i <= 100; ++i) pace.add(0, 1, us(900 + i));
  CHECK(pace.rate().value() == doctest::Approx((110 - 10 * 500.0 / 900) / 500e-6).epsilon(1e-12));
}

TEST_CASE("long_runs_are_noted_now_and_then") {
  std::mt19937_64 random(7);
  constexpr std::uint64_t kUpdates = 100'000;
  Pace pace(3);
  std::vector<std::vector<std::int64_t>> all(3);
  for (std::uint32_t rank = 0; rank < 3; ++rank) {
    pace.begin(rank, kUpdates, {0});
    std::int64_t now = 0;
    for (std::uint64_t i = 0; i < kUpdates; ++i) {
      now += static_cast<std::int64_t>(random() % 2'000'000 + rank * 50'000);
      all[rank].push_back(now);
      pace.add(rank, 1, {now});
    }
  }
  const std::int64_t end = std::min({all[0].back(), all[1].back(), all[2].back()});
  std::size_t exact = 0;
  for (const auto& times : all) {
    exact += static_cast<std::size_t>(
        std::count_if(times.begin(), times.end(), [end](std::int64_t at) { return at > end / 2 && at <= end; }));
  }
  const double expected = static_cast<double>(exact) / (static_cast<double>(end) / 2 * 1e-12);
  CHECK(pace.rate().value() == doctest::Approx(expected).epsilon(1e-3));
}

// With 2, 1 and 1 updates at 2, 4 and 4 us the second half has the last two.
TEST_CASE("updates_of_one_instant_all_count") {
  Pace pace(1);
  pace.begin(0, 4, us(0));
  pace.add(0, 2, us(2));
  pace.add(0, 1, us(4));
  pace.add(0, 1, us(4));
  CHECK(pace.rate().value() == doctest::Approx(1e6).epsilon(1e-12));
}

// Only every other update is noted, and the last, which takes 488 us: from 500 to 1000 us these are 12 and the last.
TEST_CASE("last_update_is_noted_however_many_there_are") {
  Pace pace(1);
  pace.begin(0, 513, us(0));
  for (std::int64_t i = 1; i <= 512; ++i) pace.add(0, 1, us(i));
  pace.add(0, 1, us(1000));
  CHECK(pace.rate().value() == doctest::Approx(13 / 500e-6).epsilon(1e-12));
}

TEST_CASE("there_is_no_rate_without_a_block_or_before_its_end") {
  Pace pace(2);
  CHECK_FALSE(pace.rate().has_value());
  pace.add(0, 1, us(1));  // by a verification, outside of blocks
  run_evenly(pace, 0, 4, 0, 1);
  CHECK_FALSE(pace.rate().has_value());
  pace.begin(1, 4, us(0));
  pace.add(1, 3, us(3));
  CHECK_FALSE(pace.rate().has_value());
  pace.add(1, 1, us(4));
  CHECK(pace.rate().value() == doctest::Approx(2e6).epsilon(1e-12));
  pace.begin(0, 4, us(10));
  CHECK_FALSE(pace.rate().has_value());
}

TEST_CASE("an_update_that_takes_no_time_has_no_rate") {
  Pace pace(1);
  pace.begin(0, 1, us(5));
  pace.add(0, 1, us(5));
  CHECK_FALSE(pace.rate().has_value());
}

}  // namespace
}  // namespace gasmeter::bench::random_access::random_access_pace_test
