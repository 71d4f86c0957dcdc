#include "gasmeter/bench/random_access_check.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

#include "gasmeter/bench/random_access_table.hpp"

namespace gasmeter::bench::random_access::random_access_check_test {
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

// This includes unequal shares, streams that begin again, and runs that begin elsewhere.
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
        std::vector<std::uint64_t> updates_seen;
        for_every_update(table, ranks, begin, end, [&](std::uint64_t value) { updates_seen.push_back(value); });
        REQUIRE(updates_seen == expected);
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
      const Verification check_result = check_and_reset(share, table.first_of(rank), table.count_of(rank));
      all.errors += check_result.errors;
      all.checked += check_result.checked;
    }
    CHECK(all.checked == table.words());
    CHECK(all.errors == 1);
  }
}

// A rank's program, applied by hand: in its stream's order, to the owner of each word.
struct OfOne {
  OfOne(const Distribution& table, std::uint32_t rank) : stream(table, rank), words(table.count_of(rank)) {
    initialise(words.data(), table.first_of(rank), words.size());
  }
  Stream stream;
  std::vector<std::uint64_t> words;
};

// Return the errors of each rank. `lost`: an update of rank 0 that nobody applies.
std::vector<std::uint64_t> errors_of(std::uint32_t ranks, bool shared, std::uint64_t lost) {
  const Distribution table(256, ranks, 3);
  std::vector<OfOne> all;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) all.emplace_back(table, rank);
  std::vector<Verifier> verifiers;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    verifiers.push_back(shared ? Verifier(of_job<Shares>(&all, ranks), rank, all[rank].words.data()) : Verifier());
  }
  std::vector<std::uint64_t> errors;
  for (const std::uint64_t updates : {100U, 37U}) {
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      std::uint64_t number = 0;
      all[rank].stream.each(updates, [&](std::uint64_t value) {
        const std::uint32_t owner = table.owner(value & table.mask());
        if (rank == 0 && ++number == lost) return;
        all[owner].words[table.offset(value & table.mask(), owner)] ^= value;
      });
    }
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      OfOne& one = all[rank];
      const Verification verification = verifiers[rank].verify(
          one.words.data(), table, rank, ranks, one.stream, [](std::uint64_t) { FAIL("there were updates"); }, [] {});
      CHECK(verification.checked == one.words.size());
      errors.push_back(verification.errors);
    }
  }
  return errors;
}

TEST_CASE("who_takes_back_for_all_finds_what_each_finds_alone") {
  for (const std::uint32_t ranks : {1U, 2U, 3U, 7U, 16U}) {
    CAPTURE(ranks);
    const std::vector<std::uint64_t> none(2 * ranks, 0);
    CHECK(errors_of(ranks, false, 0) == none);
    CHECK(errors_of(ranks, true, 0) == none);
    const std::vector<std::uint64_t> alone = errors_of(ranks, false, 30);
    CHECK(std::accumulate(alone.begin(), alone.end(), std::uint64_t{0}) == 2);
    CHECK(errors_of(ranks, true, 30) == alone);
  }
}

TEST_CASE("the_first_takes_back_for_all_and_jobs_have_shares_of_their_own") {
  const Distribution table(64, 2, 1);
  std::vector<std::uint64_t> words(64);
  const auto share = [&](std::uint32_t rank) { return words.data() + table.first_of(rank); };
  const int one = 0;
  const int other = 0;
  for (const int* const job : {&one, &other, &one}) {
    initialise(words.data(), 0, words.size());
    for_every_update(table, 2, 0, 50, [&](std::uint64_t value) { words[value & table.mask()] ^= value; });
    const std::shared_ptr<Shares> shares = of_job<Shares>(job, 2);
    CHECK(of_job<Shares>(job, 2) == shares);
    CHECK(of_job<Shares>(&table, 2) != shares);
    shares->add(0, share(0));
    shares->add(1, share(1));
    shares->take_back(table, 0, 50);
    for (int again = 0; again < 2; ++again) {
      for (std::uint64_t i = 0; i < words.size(); ++i) REQUIRE(words[i] == i);
      shares->take_back(table, 0, 50);
    }
  }
}

}  // namespace
}  // namespace gasmeter::bench::random_access::random_access_check_test
