#include "gasmeter/bench/random_access_stream.hpp"

#include <doctest/doctest.h>

#include <random>
#include <vector>

#include "support/effort.hpp"

namespace gasmeter::bench::random_access::random_access_stream_test {
namespace {

TEST_CASE("jump_ahead_equals_that_many_steps") {
  std::uint64_t value = 1;
  for (std::uint64_t n = 0; n <= 5'000; ++n) {
    REQUIRE(starts(n) == value);
    value = step(value);
  }
  std::mt19937_64 random(3);
  for (std::uint64_t i = 0; i < testing::rounds(20); ++i) {
    const std::uint64_t n = random() % 1'000'000;
    value = 1;
    for (std::uint64_t k = 0; k < n; ++k) value = step(value);
    CHECK(starts(n) == value);
  }
  // At every position: one step further is the next number's start.
  for (unsigned i = 0; i < 1000; ++i) {
    const std::uint64_t n = random() % (kPeriod - 1);
    REQUIRE(step(starts(n)) == starts(n + 1));
  }
}

TEST_CASE("stream_has_the_period_of_its_polynomial") {
  // (2^63 - 1) / 7 = 7 * 73 * 127 * 337 * 92737 * 649657
  CHECK(kPeriod == ((std::uint64_t{1} << 63) - 1) / 7);
  CHECK(kPeriod * 7 == (std::uint64_t{1} << 63) - 1);
  CHECK(starts(0) == 1);
  CHECK(starts(kPeriod) == 1);
  CHECK(step(starts(kPeriod - 1)) == 1);
  CHECK(starts(kPeriod + 5) == starts(5));
  std::uint64_t product = 1;
  for (const std::uint64_t prime : {7U, 73U, 127U, 337U, 92737U, 649657U}) {
    product *= prime;
    CHECK(starts(kPeriod / prime) != 1);  // no shorter period
  }
  CHECK(product == kPeriod);
}

TEST_CASE("first_values_are_those_of_hpcc") {
  // Sixty-three shifts, then the feedback of the top bit: 7.
  for (unsigned n = 0; n < 64; ++n) CHECK(starts(n) == std::uint64_t{1} << n);
  CHECK(starts(64) == 7);
  CHECK(starts(65) == 14);
  CHECK(starts(63 + 62) == std::uint64_t{7} << 61);
  CHECK(starts(63 + 63) == (std::uint64_t{7} << 62 ^ 7));  // one of the three ones has left at the top
}

TEST_CASE("distribution_is_a_partition_in_blocks") {
  for (unsigned exponent = 0; exponent <= 12; ++exponent) {
    const std::uint64_t words = std::uint64_t{1} << exponent;
    for (std::uint32_t ranks = 1; ranks <= 17 && ranks <= words; ++ranks) {
      const Distribution table(words, ranks);
      CHECK(table.words() == words);
      std::vector<std::uint64_t> owned(ranks);
      std::uint64_t previous = 0;
      for (std::uint64_t word = 0; word < words; ++word) {
        const std::uint32_t owner = table.owner(word);
        REQUIRE(owner < ranks);
        REQUIRE(owner >= previous);
        REQUIRE(table.offset(word, owner) == owned[owner]);  // dense, in order
        REQUIRE(table.first_of(owner) + owned[owner] == word);
        ++owned[owner];
        previous = owner;
      }
      std::uint64_t largest = 0;
      for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        REQUIRE(owned[rank] == table.count_of(rank));
        // HPCC: the first N mod P ranks own one word more.
        REQUIRE(owned[rank] == words / ranks + (rank < words % ranks ? 1 : 0));
        largest = std::max(largest, owned[rank]);
      }
      CHECK(table.largest_count() == largest);
    }
  }
}

TEST_CASE("streams_of_all_ranks_are_the_whole_stream_in_pieces") {
  for (const std::uint32_t ranks : {1U, 2U, 3U, 5U, 8U, 17U}) {
    const Distribution table(256, ranks);
    std::vector<std::uint64_t> all;
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      Stream stream(table, rank);
      std::vector<std::uint64_t> part(stream.length());
      stream.take(part.data(), part.size());
      all.insert(all.end(), part.begin(), part.end());
    }
    REQUIRE(all.size() == kUpdatesPerWord * 256);
    std::uint64_t value = 1;
    for (const std::uint64_t taken : all) {
      value = step(value);
      REQUIRE(taken == value);
    }
  }
}

TEST_CASE("another_seed_begins_elsewhere_and_is_even_from_the_start") {
  CHECK(offset_of_seed(0) == 0);
  CHECK(offset_of_seed(1) == 0);
  CHECK(offset_of_seed(2) != offset_of_seed(3));
  constexpr std::uint32_t kRanks = 64;
  constexpr std::uint64_t kUpdates = 1000;
  const auto busiest = [](std::uint64_t seed) {
    const Distribution table(kRanks * 2048, kRanks, seed);
    std::vector<std::uint64_t> updates(kRanks);
    for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
      Stream stream(table, rank);
      std::vector<std::uint64_t> values(kUpdates);
      stream.take(values.data(), values.size());
      CHECK(values[0] == step(starts(offset_of_seed(seed) + kUpdatesPerWord * table.first_of(rank))));
      for (const std::uint64_t value : values) ++updates[table.owner(value & (table.words() - 1))];
    }
    return *std::max_element(updates.begin(), updates.end());
  };
  CHECK(busiest(1) > 4 * kUpdates);  // powers of x have few bits set
  for (const std::uint64_t seed : {2U, 3U, 12345U}) CHECK(busiest(seed) < 3 * kUpdates / 2);
}

TEST_CASE("stream_does_not_depend_on_how_it_is_taken") {
  const Distribution table(64, 3);
  std::mt19937_64 random(1);
  for (unsigned round = 0; round < 50; ++round) {
    Stream whole(table, 1);
    std::vector<std::uint64_t> expected(3 * whole.length() + 10);  // beyond its end it begins again
    whole.take(expected.data(), expected.size());
    Stream pieces(table, 1);
    std::vector<std::uint64_t> taken(expected.size());
    std::uint64_t done = 0;
    while (done < taken.size()) {
      const std::uint64_t count = std::min<std::uint64_t>(random() % 100, taken.size() - done);
      pieces.take(taken.data() + done, count);
      done += count;
      REQUIRE(pieces.position() == done);
      if (random() % 4 == 0) pieces.seek(done);  // to its current position
    }
    CHECK(taken == expected);
    CHECK(std::equal(expected.begin(), expected.begin() + 10,
                     expected.begin() + static_cast<std::ptrdiff_t>(whole.length())));
  }
}

}  // namespace
}  // namespace gasmeter::bench::random_access::random_access_stream_test
