// Clocks that start at different times and drift, and messages of any delay: a line through two exchanges is off by no
// more than its bound.
#include "gasmeter/kernels/clock_line.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>

#include "support/effort.hpp"

namespace gasmeter::kernels::clock_line_test {
namespace {

// The peer's clock by this rank's clock, which is the true time in this test.
struct Peer {
  std::int64_t offset_ps = 0;
  double drift = 0;

  [[nodiscard]] SimTime at(SimTime time) const {
    return {offset_ps + time.ps + std::llround(static_cast<double>(time.ps) * drift)};
  }
};

ClockExchange exchange(const Peer& peer, SimTime sent, std::int64_t there_ps, std::int64_t back_ps) {
  return {sent, peer.at({sent.ps + there_ps}), {sent.ps + there_ps + back_ps}};
}

// Return the line's estimate of the peer's clock, less the true time.
double error_at(const ClockLine& line, const Peer& peer, SimTime time) {
  return line.ps_between(time, peer.at(time));
}

constexpr SimTime kSecond{1'000'000'000'000};

TEST_CASE("exchanges_that_take_as_long_both_ways_find_offset_and_drift") {
  const Peer peer{-777'000'000'000'123, 50e-6};
  const ClockLine line(exchange(peer, {}, 1'000'000, 1'000'000), exchange(peer, kSecond, 1'000'000, 1'000'000));
  CHECK(line.drift() == doctest::Approx(-50e-6 / (1 + 50e-6)).epsilon(1e-6));
  for (const double share : {0.0, 0.25, 0.5, 1.0}) {
    CHECK(std::abs(error_at(line, peer, {static_cast<std::int64_t>(share * 1e12)})) <= 2);
  }
  CHECK(line.bound() == SimTime{1'000'000});
}

TEST_CASE("a_way_that_is_longer_shifts_the_line_by_half_of_what_it_is_longer") {
  const Peer peer{5'000'000, 0};
  const ClockLine line(exchange(peer, {}, 1'000'000, 3'000'000), exchange(peer, kSecond, 1'000'000, 3'000'000));
  CHECK(error_at(line, peer, {kSecond.ps / 2}) == doctest::Approx(1'000'000));
  CHECK(line.bound() == SimTime{2'000'000});
}

TEST_CASE("the_bound_is_reached_where_one_way_takes_no_time") {
  const Peer peer{};
  const ClockLine line(exchange(peer, {}, 0, 4'000'000), exchange(peer, kSecond, 0, 2'000'000));
  CHECK(error_at(line, peer, {}) == doctest::Approx(2'000'000));
  CHECK(line.bound() == SimTime{2'000'000});  // bound of the worse exchange
}

TEST_CASE("one_clock_is_off_by_nothing_however_long_it_has_run") {
  const ClockLine line;
  const SimTime late{8'000'000'000'000'000'003};
  CHECK(line.ps_between(late, {late.ps + 5}, 0.25) == 5.25);
  CHECK(line.bound() == SimTime{});
}

TEST_CASE("a_clock_that_stands_still_gives_no_drift") {
  const ClockLine line({{0}, {7}, {10}}, {{100}, {7}, {110}});
  CHECK(line.drift() == 0);
}

TEST_CASE("the_shortest_of_many_exchanges_counts_and_of_equal_ones_the_first") {
  const std::int64_t round_trips[] = {9, 4, 6, 4};
  std::int64_t next = 0;
  const ClockExchange shortest = shortest_of(4, [&] {
    const ClockExchange one{{100 * next}, {}, {100 * next + round_trips[next]}};
    ++next;
    return one;
  });
  CHECK(next == 4);
  CHECK(shortest.sent == SimTime{100});
}

// Offset, drift, both ways' least times and further delays are random.
TEST_CASE("no_clock_and_no_delays_make_a_line_worse_than_its_bound") {
  std::mt19937_64 random(42);
  const auto between = [&](double low, double high) { return std::uniform_real_distribution<>(low, high)(random); };
  for (unsigned round = 0; round < gasmeter::testing::rounds(2000); ++round) {
    const Peer peer{static_cast<std::int64_t>(between(-1e18, 1e18)), between(-500e-6, 500e-6)};
    const double there = std::pow(10, between(0, 8));
    const double back = std::pow(10, between(0, 8));
    std::exponential_distribution<> delay(1 / std::pow(10, between(0, 8)));
    SimTime now{static_cast<std::int64_t>(between(0, 1e15))};
    const auto shortest = [&] {
      return shortest_of(20, [&] {
        const ClockExchange one = exchange(peer, now, static_cast<std::int64_t>(there + delay(random)),
                                           static_cast<std::int64_t>(back + delay(random)));
        now = one.received;
        return one;
      });
    };
    const ClockExchange before = shortest();
    const SimTime begin = now;
    now += {static_cast<std::int64_t>(std::pow(10, between(3, 12.5)))};
    const SimTime end = now;
    const ClockLine line(before, shortest());
    CAPTURE(round);
    for (int i = 0; i < 5; ++i) {
      const SimTime time{begin.ps + static_cast<std::int64_t>(between(0, 1) * static_cast<double>((end - begin).ps))};
      // Clocks count picoseconds; rounding loses a few of them.
      REQUIRE(std::abs(error_at(line, peer, time)) <= static_cast<double>(line.bound().ps) + 4);
    }
  }
}

TEST_CASE("a_mean_of_times_is_exact_where_their_sum_fits_no_word") {
  MeanTime mean;
  CHECK(mean.later_ps() == 0);
  const SimTime first{8'000'000'000'000'000'000};
  for (std::int64_t i = 0; i < 101; ++i) mean.add({first.ps + i * 10'000'000'000'000'000});
  CHECK(mean.first() == first);
  CHECK(mean.later_ps() == 500'000'000'000'000'000.0);
}

}  // namespace
}  // namespace gasmeter::kernels::clock_line_test
