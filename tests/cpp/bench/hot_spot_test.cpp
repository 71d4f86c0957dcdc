#include "gasmeter/bench/hot_spot.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <barrier>
#include <thread>
#include <vector>

namespace gasmeter::bench::hot_spot::hot_spot_test {
namespace {

// Two ranks that share their cores with others, as rounds see them: now and then a rank is missing, and now and then
// one returns late from a good round.
struct BusyMachine {
  static constexpr double kTogether = 7000;  // ps for one operation of either
  static constexpr double kAlone = 1400;
  unsigned done = 0;
  std::uint64_t longest_round = 0;

  Round operator()(std::uint64_t operations) {
    ++done;
    longest_round = std::max(longest_round, operations);
    const auto time = [](double each, std::uint64_t n, double late = 0) {
      return SimTime{static_cast<std::int64_t>(each * static_cast<double>(n) + late)};
    };
    if (done % 7 == 3) return {time(kAlone, 3 * operations), 3 * operations, false};
    if (done % 9 == 5) return {time(kTogether, 2 * operations, 12e9), 2 * operations, true};
    return {time(kTogether, 2 * operations), 2 * operations, true};
  }
};

TEST_CASE("rate_at_one_word_does_not_depend_on_the_length_of_the_block") {
  for (const std::uint64_t operations : {1'000U, 8'192U, 20'000U, 140'000U, 1'400'000U, 14'000'000U}) {
    CAPTURE(operations);
    BusyMachine machine;
    const SimTime elapsed = time_of_block(operations, 2, machine);
    const double each = static_cast<double>(elapsed.ps) / (2 * static_cast<double>(operations));
    CHECK(each == doctest::Approx(BusyMachine::kTogether).epsilon(0.001));
    CHECK(machine.longest_round <= kRound);
  }
}

TEST_CASE("rounds_end_where_ranks_never_meet") {
  for (const std::uint64_t operations : {10U, 100'000U, 1'000'000U}) {
    unsigned done = 0;
    const SimTime elapsed = time_of_block(operations, 4, [&](std::uint64_t each) {
      ++done;
      return Round{SimTime{static_cast<std::int64_t>(1000 * each)}, 4 * each, false};
    });
    CHECK(elapsed.ps == doctest::Approx(1000.0 * static_cast<double>(operations)).epsilon(0.001));
    CHECK(done <= 2 * Rounds(operations).count + 16);
    if (operations < kFewest) CHECK(done == 1);
  }
}

// Two ranks: rank 1 is missing in each round until rank 0 has done `missing` operations.
struct Shared {
  std::barrier<> meeting{2};
  std::array<std::atomic<std::uint64_t>, 2> added{};
  std::array<std::atomic<std::uint64_t>, 2> finished{};
  std::array<std::atomic<std::uint64_t>, 2> told{};
};

struct Side {
  Shared& shared;
  unsigned self;
  std::uint64_t missing = 0;

  static std::uint32_t ranks() { return 2; }
  void barrier() { shared.meeting.arrive_and_wait(); }
  static SimTime now() { return SimTime{0}; }
  void add(std::uint64_t operations) {
    while (self == 1 && shared.added[0] < missing) std::this_thread::yield();
    shared.added[self] += operations;
  }
  void finish(std::uint64_t round) { shared.finished[self] = round; }
  std::uint64_t finished(std::uint32_t rank) {
    // The other rank is there by then: however late its thread runs, nobody sees that.
    while (shared.added[0] >= missing && shared.finished[rank] < shared.finished[self]) std::this_thread::yield();
    return shared.finished[rank];
  }
  void tell(std::uint64_t operations) { shared.told[self] = operations; }
  std::uint64_t told(std::uint32_t rank) { return shared.told[rank]; }
};

TEST_CASE("ranks_are_busy_until_all_have_done_theirs_and_a_missing_one_tells") {
  constexpr std::uint64_t kOperations = 5000;
  struct Case {
    std::uint64_t missing;
    std::uint64_t operations;  // by both together
    bool together;
  };
  const std::array<Case, 4> cases{{{0, 2 * kOperations, true},
                                   {kOperations + 2 * kChunk, 2 * kOperations + 2 * kChunk, true},
                                   {2 * kOperations - kChunk, 3 * kOperations - 8, true},
                                   {2 * kOperations + 1, 3 * kOperations + 56, false}}};
  Shared shared;
  std::array<std::vector<Round>, 2> rounds;
  const auto rank = [&](unsigned self) {
    Side side{shared, self};
    std::uint64_t number = 0;
    for (const Case& each : cases) {
      side.missing = each.missing;
      shared.added[self] = 0;
      rounds[self].push_back(one_round(side, ++number, kOperations));
    }
  };
  std::thread other([&] { rank(1); });
  rank(0);
  other.join();
  for (std::size_t i = 0; i < cases.size(); ++i) {
    CAPTURE(i);
    for (const unsigned self : {0U, 1U}) {
      CHECK(rounds[self][i].operations == cases[i].operations);
      CHECK(rounds[self][i].together == cases[i].together);
    }
  }
}

}  // namespace
}  // namespace gasmeter::bench::hot_spot::hot_spot_test
