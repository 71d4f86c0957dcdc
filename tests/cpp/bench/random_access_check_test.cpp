#include "gasmeter/bench/random_access_check.hpp"

#include <doctest/doctest.h>

#include <random>
#include <utility>
#include <vector>

#include "gasmeter/bench/random_access_table.hpp"

namespace gasmeter::bench::random_access {
namespace {

TEST_CASE("a_jump_equals_that_many_steps_from_anywhere") {
  std::mt19937_64 random(5);
  for (const std::uint64_t n : {0U, 1U, 2U, 63U, 64U, 65U, 1000U, 8192U}) {
    const Jump jump(n);
    for (unsigned i = 0; i < 50; ++i) {
      const std::uint64_t from = random() % 1'000'000;
      REQUIRE(jump(starts(from)) == starts(from + n));
    }
    const std::uint64_t a = random();
    const std::uint64_t b = random();
    REQUIRE(jump(a ^ b) == (jump(a) ^ jump(b)));
  }
  const Jump around(kPeriod);
  REQUIRE(around(starts(12345)) == starts(12345));
}

// Also where ranks own unequal shares, streams begin again, and a run begins elsewhere.
TEST_CASE("updates_of_all_ranks_are_those_of_their_streams") {
  for (const std::uint32_t ranks : {1U, 2U, 3U, 5U, 16U, 17U}) {
    for (const std::uint64_t seed : {1U, 2U, 9U}) {
      const Distribution table(64, ranks, seed);
      for (const auto& part_of : std::vector<std::pair<std::uint64_t, std::uint64_t>>{
               {0, 1}, {0, 40}, {7, 7}, {7, 300}, {255, 257}, {1000, 1100}}) {
        const std::uint64_t begin = part_of.first;
        const std::uint64_t end = part_of.second;
        CAPTURE(ranks);
        CAPTURE(seed);
        CAPTURE(begin);
        CAPTURE(end);
        std::vector<std::uint64_t> expected;
        for (std::uint32_t rank = 0; rank < ranks; ++rank) {
          Stream stream(table, rank);
          stream.seek(begin);
          std::vector<std::uint64_t> part(end - begin);
          stream.take(part.data(), part.size());
          expected.insert(expected.end(), part.begin(), part.end());
        }
        std::vector<std::uint64_t> found;
        for_every_update(table, ranks, begin, end, [&](std::uint64_t value) { found.push_back(value); });
        REQUIRE(found == expected);
      }
    }
  }
}

TEST_CASE("what_is_taken_back_leaves_the_table_as_it_was_and_nothing_less_does") {
  for (const std::uint32_t ranks : {1U, 3U, 8U}) {
    const Distribution table(1024, ranks, 2);
    std::vector<std::uint64_t> words(table.words());
    initialise(words.data(), 0, words.size());
    std::uint64_t last = 0;
    for_every_update(table, ranks, 100, 900, [&](std::uint64_t value) { words[value & table.mask()] ^= last = value; });
    words[last & table.mask()] ^= last;  // one is lost
    Verification all;
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      std::uint64_t* const share = words.data() + table.first_of(rank);
      take_back(share, table, rank, ranks, 100, 900);
      const Verification found = check_and_reset(share, table.first_of(rank), table.count_of(rank));
      all.errors += found.errors;
      all.checked += found.checked;
    }
    CHECK(all.checked == table.words());
    CHECK(all.errors == 1);
  }
}

}  // namespace
}  // namespace gasmeter::bench::random_access
