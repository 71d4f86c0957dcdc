// Filling in a pattern, and comparing data with it.
#include "gasmeter/bench/pattern.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

#include "gasmeter/base/random.hpp"

namespace gasmeter::bench::pattern_test {
namespace {

// Count differences byte by byte, as the pattern is defined.
std::uint64_t differences_one_by_one(const std::vector<std::byte>& data, std::uint64_t seed, Bytes first) {
  std::uint64_t differences = 0;
  for (Bytes i = first; i < data.size(); ++i) differences += data[i] != pattern_byte(seed, i) ? 1U : 0U;
  return differences;
}

}  // namespace

TEST_CASE("a_pattern_is_filled_in_by_words_as_it_is_byte_by_byte") {
  for (Bytes size = 0; size < 40; ++size) {
    std::vector<std::byte> data(size + 1, std::byte{0x5a});
    fill_pattern({data.data(), size}, 11);
    for (Bytes i = 0; i < size; ++i) REQUIRE(data[i] == pattern_byte(11, i));
    CHECK(data[size] == std::byte{0x5a});
  }
}

TEST_CASE("every_byte_that_differs_is_counted_from_the_first_that_counts_on") {
  std::uint64_t random = 7;
  const auto next = [&random](std::uint64_t below) { return (random = splitmix64(random)) % below; };
  for (unsigned round = 0; round < 4000; ++round) {
    std::vector<std::byte> data(next(70));
    fill_pattern(data, round);
    for (std::uint64_t flips = data.empty() ? 0 : next(6); flips > 0; --flips) {
      data[next(data.size())] ^= static_cast<std::byte>(1 + next(255));
    }
    const Bytes first = next(data.size() + 3);
    CAPTURE(data.size());
    CAPTURE(first);
    REQUIRE(count_differences(data.data(), data.size(), round, first) == differences_one_by_one(data, round, first));
  }
  const std::vector<std::byte> zeros(64);
  CHECK(count_differences(zeros.data(), 64, 1) == differences_one_by_one(zeros, 1, 0));
}

}  // namespace gasmeter::bench::pattern_test
