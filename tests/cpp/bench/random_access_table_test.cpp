#include "gasmeter/bench/random_access_table.hpp"

#include <doctest/doctest.h>

#include <random>
#include <vector>

namespace gasmeter::bench::random_access::random_access_table_test {
namespace {

constexpr std::uint64_t kWords = 1024;

// Apply a value to a table in the plainest way.
void apply_plainly(std::vector<std::uint64_t>& words, std::uint64_t value) {
  words[value & (kWords - 1)] ^= value;
}

TEST_CASE("updates_in_flight_all_arrive_however_few_they_are") {
  std::mt19937_64 random(7);
  for (const std::uint64_t count : {0U, 1U, 31U, 32U, 33U, 64U, 1000U}) {
    CAPTURE(count);
    std::vector<std::uint64_t> words(kWords);
    std::vector<std::uint64_t> expected(kWords);
    const auto apply = [](std::uint64_t* word, std::uint64_t value) { *word ^= value; };
    InFlight in_flight;
    std::uint64_t turn = 0;
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::uint64_t value = random();
      apply_plainly(expected, value);
      in_flight.add(turn, &words[value & (kWords - 1)], value, apply);
    }
    in_flight.finish(apply);
    CHECK(words == expected);
    in_flight.finish(apply);  // no update remains to be applied twice
    CHECK(words == expected);
  }
}

std::uint64_t next_of(Stream& stream) {
  std::uint64_t value = 0;
  stream.take(&value, 1);
  return value;
}

// Values are queued, applied along with a stream, at once and in bulk, in any order: exclusive-or does not mind.
TEST_CASE("own_words_hold_what_was_applied_by_any_way") {
  std::mt19937_64 random(11);
  const Distribution table(kWords, 1);
  std::vector<std::uint64_t> words(kWords);
  std::vector<std::uint64_t> expected(kWords);
  OwnWords share(words.data(), table, 0);
  Stream stream(table, 0);
  Stream same_stream(table, 0);
  std::vector<std::uint64_t> values(2000);
  for (unsigned round = 0; round < 200; ++round) {
    const std::uint64_t count = random() % (round % 2 == 0 ? 40 : values.size());
    for (std::uint64_t i = 0; i < count; ++i) values[i] = random();
    const auto way = random() % 4;
    if (way == 0) {
      share.apply(values.data(), count);
    } else if (way == 1) {
      share.queue(values.data(), count);
    } else if (way == 2) {
      for (std::uint64_t i = 0; i < count; ++i) share.apply_now(values[i]);
    } else {
      share.apply_along(stream, count, [&](std::uint64_t value) { REQUIRE(value == next_of(same_stream)); });
      continue;
    }
    for (std::uint64_t i = 0; i < count; ++i) apply_plainly(expected, values[i]);
  }
  share.finish();
  CHECK(words == expected);
}

}  // namespace
}  // namespace gasmeter::bench::random_access::random_access_table_test
