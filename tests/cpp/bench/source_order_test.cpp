#include "gasmeter/bench/source_order.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

namespace gasmeter::bench::source_order_test {
namespace {

std::vector<std::uint64_t> first(const SourceOrder& order, std::uint64_t many) {
  std::vector<std::uint64_t> all;
  for (std::uint64_t i = 0; i < many; ++i) all.push_back(order.at(i));
  return all;
}

TEST_CASE("source_order_goes_round_or_up_and_down") {
  using Sources = std::vector<std::uint64_t>;
  CHECK(first({3, "cyclic", 1}, 7) == Sources{0, 1, 2, 0, 1, 2, 0});
  CHECK(first({3, "sweep", 1}, 8) == Sources{0, 1, 2, 2, 1, 0, 0, 1});
  for (const char* order : {"cyclic", "sweep", "zipf"}) CHECK(first({1, order, 1}, 3) == Sources{0, 0, 0});
}

TEST_CASE("source_order_of_zipf_has_the_first_k_times_as_often_as_the_kth") {
  constexpr std::uint64_t kMany = 100'000;
  const SourceOrder order(4, "zipf", 7);
  std::vector<double> times(4);
  for (const std::uint64_t which : first(order, kMany)) ++times.at(which);
  // 1 + 1/2 + 1/3 + 1/4 = 25/12: 48, 24, 16 and 12 of 100. The deviation of such a share of 100,000 is 0.16 at most.
  const std::vector<double> shares{48, 24, 16, 12};
  for (std::size_t k = 0; k < 4; ++k) CHECK(100 * times[k] / kMany == doctest::Approx(shares[k]).epsilon(0.02));
  CHECK(first(order, 100) == first({4, "zipf", 7}, 100));
  CHECK(first(order, 100) != first({4, "zipf", 8}, 100));
}

TEST_CASE("source_order_says_what_operations_have_each_once") {
  const SourceOrder order(3, "sweep", 1);
  CHECK(order.of(1, 3) == std::vector<std::uint64_t>{1, 2});
  CHECK(order.of(0, 100) == std::vector<std::uint64_t>{0, 1, 2});
  CHECK(order.of(5, 0).empty());
}

}  // namespace
}  // namespace gasmeter::bench::source_order_test
