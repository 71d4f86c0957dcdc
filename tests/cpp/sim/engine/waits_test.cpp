// Instants of the polls of a wait. Prices: prices.hpp; a missed poll costs 10 ns.
#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

#include "gasmeter/base/error.hpp"
#include "gasmeter/sim/engine/model_host.hpp"
#include "prices.hpp"

namespace gasmeter::sim::waits_test {
namespace {

using testing::options_for;

struct Alarm : Action {
  explicit Alarm(Rank whom) : Action(&Alarm::ring), rank(whom) {}
  static void ring(Action& self, SimTime now) {
    auto& alarm = static_cast<Alarm&>(self);
    alarm.engine->wake(alarm.rank, now);
  }
  Rank rank;
  Engine* engine = nullptr;
};

// Return when a rank goes on that has waited from `since` for a message at `at`; `misses`: its own price of a poll.
std::int64_t end_of_wait(Waits waits, std::int64_t since, std::int64_t at, std::int64_t misses = 0,
                         SimTime deadline = kNever) {
  std::int64_t ends[2];
  for (const bool strict : {false, true}) {
    EngineOptions options = options_for(1, 1, strict);
    options.waits = waits;
    Engine engine(options);
    Alarm alarm(Rank{0});
    alarm.engine = &engine;
    engine.start(Rank{0}, [&] {
      ModelHost host = engine.host(Rank{0});
      if (misses != 0) host.price_misses({misses});
      if (at != 0) engine.post(host.node(), host.node(), {at}, alarm);
      host.spend({since});
      host.idle(deadline);
      ends[strict ? 1 : 0] = host.now().ps;
    });
    engine.run();
  }
  CHECK(ends[0] == ends[1]);
  return ends[0];
}

TEST_CASE("wait_by_polls_ends_after_a_whole_number_of_them") {
  CHECK(end_of_wait(Waits::by_polls, 3'000, 33'000) == 33'000);
  CHECK(end_of_wait(Waits::by_polls, 3'000, 33'001) == 43'000);
  CHECK(end_of_wait(Waits::by_polls, 3'000, 5'000) == 13'000);
}

TEST_CASE("wait_that_knows_no_phase_ends_half_a_poll_later_and_pays_one_at_least") {
  CHECK(end_of_wait(Waits::mid_poll, 3'000, 33'000) == 38'000);
  CHECK(end_of_wait(Waits::mid_poll, 3'000, 33'001) == 38'001);
  CHECK(end_of_wait(Waits::mid_poll, 3'000, 5'000) == 13'000);
  CHECK(end_of_wait(Waits::mid_poll, 3'000, 8'000) == 13'000);
  CHECK(end_of_wait(Waits::mid_poll, 3'000, 8'001) == 13'001);
  // A deadline is seen by a poll, too.
  CHECK(end_of_wait(Waits::mid_poll, 3'000, 0, 0, {40'000}) == 45'000);
  CHECK(end_of_wait(Waits::mid_poll, 3'000, 0, 0, {1'000}) == 13'000);
}

// The mean of waits that begin anywhere in a poll equals that of counted waits.
TEST_CASE("mean_over_all_phases_is_that_of_counted_polls") {
  std::int64_t counted = 0;
  std::int64_t spread = 0;
  for (std::int64_t phase = 0; phase < 10; ++phase) {
    counted += end_of_wait(Waits::by_polls, 1'000 * phase, 45'000 + 500);
    spread += end_of_wait(Waits::mid_poll, 1'000 * phase, 45'000 + 500);
  }
  CHECK(counted == spread);
}

TEST_CASE("rank_that_sleeps_is_woken_at_once_after_the_call_in_which_it_does") {
  CHECK(end_of_wait(Waits::asleep, 3'000, 33'001) == 33'001);
  CHECK(end_of_wait(Waits::asleep, 3'000, 5'000) == 13'000);
}

TEST_CASE("poll_that_finds_nothing_may_have_a_price_of_the_rank_s_own") {
  CHECK(end_of_wait(Waits::by_polls, 3'000, 33'000, 7'000) == 38'000);
  CHECK(end_of_wait(Waits::mid_poll, 3'000, 33'000, 6'000) == 36'000);
  Engine engine(options_for(2, 1));
  engine.host(Rank{0}).price_misses({4'000});
  engine.host(Rank{0}).price_misses({2'000});
  for (const Rank rank : {Rank{0}, Rank{1}}) {
    engine.start(rank, [&, rank] {
      ModelHost host = engine.host(rank);
      host.charge(conduit::PrivatePrice::poll_miss);
      CHECK(host.now().ps == (rank == Rank{0} ? 2'000 : 10'000));
      host.charge(conduit::PrivatePrice::call);  // all other prices are the host's
      CHECK(host.now().ps == (rank == Rank{0} ? 3'000 : 11'000));
    });
  }
  engine.run();
  CHECK_THROWS_AS(engine.host(Rank{1}).price_misses({0}), UsageError);
}

}  // namespace
}  // namespace gasmeter::sim::waits_test
