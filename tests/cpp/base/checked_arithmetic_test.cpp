#include "gasmeter/base/checked_arithmetic.hpp"

#include <doctest/doctest.h>

#include <limits>

#include "gasmeter/base/units.hpp"

namespace gasmeter::checked_arithmetic_test {
namespace {

constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();

TEST_CASE("sums_and_products_that_fit_are_those_of_plain_arithmetic") {
  CHECK(checked_sum("x", 2, 3) == 5);
  CHECK(checked_sum("x", kMostBytes, 0) == kMostBytes);
  CHECK(checked_product("x", 0, kMost) == 0);
  CHECK(checked_product("x", Bytes{1} << 31U, Bytes{1} << 31U) == kMostBytes);
  CHECK(portions(0, 7) == 0);
  CHECK(portions(14, 7) == 2);
  CHECK(portions(15, 7) == 3);
  CHECK(portions(kMost, 2) == (kMost >> 1U) + 1);
}

TEST_CASE("sums_and_products_that_do_not_fit_are_refused") {
  CHECK_THROWS_WITH_AS((void)checked_sum("segment", kMostBytes, 1),
                       "segment of 4611686018427387904 + 1; at most 4611686018427387904 is allowed", UsageError);
  CHECK_THROWS_AS((void)checked_sum("x", kMost, kMost), UsageError);
  CHECK_THROWS_AS((void)checked_product("x", Bytes{1} << 61U, 8), UsageError);  // the product is 0 in 64 bits
  CHECK_THROWS_AS((void)checked_product("x", kMost, 2), UsageError);
  CHECK_THROWS_AS((void)checked_product("x", (Bytes{1} << 31U) + 1, Bytes{1} << 31U), UsageError);
}

TEST_CASE("times_that_do_not_fit_lie_behind_the_end_of_virtual_time_and_never_wrap") {
  static_assert(kLastInstant < kTooLate && kTooLate < kNever);
  CHECK(SimTime{3} + SimTime{4} == SimTime{7});
  CHECK(SimTime{3} * 4 == SimTime{12});
  CHECK(kLastInstant + kLastInstant == SimTime{8'000'000'000'000'000'000});
  CHECK(kLastInstant + kLastInstant + kLastInstant == kTooLate);
  CHECK(kLastInstant * 3 == kTooLate);
  CHECK(kTooLate + kTooLate == kTooLate);
  SimTime clock = kLastInstant;
  for (int i = 0; i < 5; ++i) clock += kLastInstant;
  CHECK(clock > kLastInstant);
  CHECK(SimTime::from_ns(1e15) == SimTime{1'000'000'000'000'000'000});
  CHECK(SimTime::from_ns(1e30) == kTooLate);
  CHECK(SimTime::from_ns(std::numeric_limits<double>::infinity()) == kTooLate);
  CHECK(SimTime::from_ns(std::numeric_limits<double>::quiet_NaN()) == kTooLate);
}

TEST_CASE("time_of_bytes_is_exact_where_its_femtoseconds_overflow") {
  CHECK(SimTime::of_bytes(1500, 3) == SimTime{4});
  CHECK(SimTime::of_bytes(1'000'000, Bytes{1} << 40U) == SimTime{(std::int64_t{1} << 40U) * 1000});
  constexpr std::int64_t kByteASecond = 1'000'000'000'000'000;
  CHECK(SimTime::of_bytes(kByteASecond, 1'000'000) == SimTime{1'000'000'000'000'000'000});
  CHECK(SimTime::of_bytes(kByteASecond - 1, 1'000'000) == SimTime{999'999'999'999'999'000});
  CHECK(SimTime::of_bytes(kByteASecond - 1, 999'999) == SimTime{999'998'999'999'999'000});
  CHECK(SimTime::of_bytes(kByteASecond, Bytes{1} << 40U) == kTooLate);
  CHECK(SimTime::of_bytes(1, Bytes{1} << 62U) == SimTime{(std::int64_t{1} << 62U) / 1000});
}

}  // namespace
}  // namespace gasmeter::checked_arithmetic_test
