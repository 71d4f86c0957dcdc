#include "gasmeter/sim/engine/model_host.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "prices.hpp"

namespace gasmeter::sim::model_host_test {
namespace {

using conduit::PrivatePrice;
using conduit::SharedPrice;
using testing::options_for;

bool seen(ModelHost& host, const bool& flag) {
  host.synchronise();
  return flag;
}

TEST_CASE("prices_move_the_clock") {
  Engine engine(options_for(1, 1));
  engine.start(Rank{0}, [&] {
    ModelHost host = engine.host(Rank{0});
    host.charge(PrivatePrice::call);
    CHECK(host.now().ps == 1'000);
    host.charge_shared(SharedPrice::line_store);
    CHECK(host.now().ps == 21'000);
    const std::uint64_t from = 42;
    std::uint64_t to = 0;
    host.copy(&to, &from, sizeof to);
    CHECK(to == 42);
    CHECK(host.now().ps == 21'000 + 4'000 + 4);  // 8 bytes at 500 fs each
  });
  engine.run();
}

// One core copies 65536 bytes in 4 ns + 32.768 ns; the node's memory needs 26.214 ns for each copy.
TEST_CASE("ranks_of_a_node_share_its_memory") {
  for (const bool strict : {false, true}) {
    EngineOptions options = options_for(3, 2, strict);
    options.prices.memory_per_byte_fs = 400;
    options.prices.memory_from = 65536;
    Engine engine(options);
    std::vector<std::int64_t> ends(3);
    std::vector<std::int64_t> small(3);
    for (std::uint32_t rank = 0; rank < 3; ++rank) {
      engine.start(Rank{rank}, [&, rank] {
        ModelHost host = engine.host(Rank{rank});
        const std::vector<std::byte> from(65536);
        std::vector<std::byte> to(65536);
        host.copy(to.data(), from.data(), 65536);
        ends[rank] = host.now().ps;
        host.copy(to.data(), from.data(), 65535);  // the bytes stay in the core's caches
        small[rank] = host.now().ps - ends[rank];
      });
    }
    engine.run();
    CHECK(ends[0] == 36'768);
    CHECK(ends[1] == 2 * 26'214);
    CHECK(ends[2] == 36'768);  // on a separate node
    CHECK(small == std::vector<std::int64_t>(3, 4'000 + 32'767));
  }
}

TEST_CASE("private_prices_do_not_switch") {
  Engine engine(options_for(2, 1));
  for (unsigned i = 0; i < 2; ++i) {
    engine.start(Rank{i}, [&, i] {
      for (int n = 0; n < 100; ++n) engine.host(Rank{i}).charge(PrivatePrice::call);
    });
  }
  engine.run();
  CHECK(engine.counters().switches == 4);  // one to start, one to end
}

// Rank 0 stores at 40 ns and notifies; rank 1 began to wait at 1 ns. The store costs 20 ns, so that the wake comes at
// 60 ns; six misses end at 61 ns.
TEST_CASE("wait_is_charged_whole_missed_polls") {
  for (bool strict : {false, true}) {
    Engine engine(options_for(2, 1, strict));
    bool flag = false;
    std::int64_t seen_at = 0;
    engine.start(Rank{0}, [&] {
      ModelHost host = engine.host(Rank{0});
      for (int n = 0; n < 40; ++n) host.charge(PrivatePrice::call);
      host.charge_shared(SharedPrice::line_store);
      flag = true;
      host.notify(Rank{1});
    });
    engine.start(Rank{1}, [&] {
      ModelHost host = engine.host(Rank{1});
      host.charge(PrivatePrice::call);
      while (!seen(host, flag)) host.idle(kNever);
      seen_at = host.now().ps;
    });
    engine.run();
    CHECK(seen_at == 61'000);
  }
}

// The same wait written as polls ends at the same instant or, where the store is visible before the notice, earlier.
TEST_CASE("polling_makes_time_pass") {
  Engine engine(options_for(2, 1));
  bool flag = false;
  std::int64_t seen_at = 0;
  engine.start(Rank{0}, [&] {
    ModelHost host = engine.host(Rank{0});
    for (int n = 0; n < 40; ++n) host.charge(PrivatePrice::call);
    host.charge_shared(SharedPrice::line_store);
    host.synchronise();  // the store is visible when it has been paid
    flag = true;
  });
  engine.start(Rank{1}, [&] {
    ModelHost host = engine.host(Rank{1});
    host.charge(PrivatePrice::call);
    while (!seen(host, flag)) host.charge(PrivatePrice::poll_miss);
    seen_at = host.now().ps;
  });
  engine.run();
  CHECK(seen_at == 61'000);
}

TEST_CASE("wait_ends_at_its_deadline_rounded_to_polls") {
  Engine engine(options_for(1, 1));
  engine.start(Rank{0}, [&] {
    ModelHost host = engine.host(Rank{0});
    host.charge(PrivatePrice::call);
    host.idle({25'000});
    CHECK(host.now().ps == 31'000);  // 1 + 3 x 10 ns
    host.idle({41'000});
    CHECK(host.now().ps == 41'000);  // exactly one poll
    host.idle({7});
    CHECK(host.now().ps == 51'000);  // a deadline that has passed costs the poll that sees it
  });
  engine.run();
}

TEST_CASE("device_wakes_a_rank") {
  Engine engine(options_for(1, 1));
  engine.start(Rank{0}, [&] {
    ModelHost host = engine.host(Rank{0});
    engine.wake(Rank{0}, {33'000});
    host.idle(kNever);
    CHECK(host.now().ps == 40'000);
    engine.wake(Rank{0}, {70'000});
    host.idle({55'000});
    CHECK(host.now().ps == 60'000);  // the deadline comes first
    host.idle(kNever);
    CHECK(host.now().ps == 70'000);
  });
  engine.run();
}

// Both ranks look and store at the same instant. Whichever looks first, the wake must arrive: it costs no missed poll.
TEST_CASE("wake_between_look_and_sleep_is_not_lost") {
  for (bool strict : {false, true}) {
    for (unsigned waiter : {0U, 1U}) {
      Engine engine(options_for(2, 1, strict));
      const unsigned storer = 1 - waiter;
      bool flag = false;
      int looks = 0;
      std::int64_t seen_at = 0;
      engine.start(Rank{waiter}, [&, waiter] {
        ModelHost host = engine.host(Rank{waiter});
        host.charge(PrivatePrice::call);
        while (!seen(host, flag)) {
          ++looks;
          host.idle(kNever);
        }
        seen_at = host.now().ps;
      });
      engine.start(Rank{storer}, [&, waiter, storer] {
        ModelHost host = engine.host(Rank{storer});
        host.charge(PrivatePrice::call);
        host.synchronise();
        flag = true;
        host.notify(Rank{waiter});
      });
      engine.run();
      CHECK(seen_at == 1'000);
      CHECK(looks == (waiter == 0 ? 1 : 0));
    }
  }
}

// One rank looks at 1 ns, works until 6 ns, and sleeps; the other stores at 2 ns.
TEST_CASE("wake_during_work_between_look_and_sleep_is_not_lost") {
  for (bool strict : {false, true}) {
    Engine engine(options_for(2, 1, strict));
    bool flag = false;
    std::int64_t seen_at = 0;
    engine.start(Rank{0}, [&] {
      ModelHost host = engine.host(Rank{0});
      host.charge(PrivatePrice::call);
      while (!seen(host, flag)) {
        host.charge(PrivatePrice::dispatch);
        host.idle(kNever);
      }
      seen_at = host.now().ps;
    });
    engine.start(Rank{1}, [&] {
      ModelHost host = engine.host(Rank{1});
      host.charge(PrivatePrice::call);
      host.charge(PrivatePrice::call);
      host.synchronise();
      flag = true;
      host.notify(Rank{0});
    });
    engine.run();
    CHECK(seen_at == 6'000);
  }
}

TEST_CASE("stale_wake_ends_one_wait_early_and_costs_nothing") {
  Engine engine(options_for(1, 1));
  engine.start(Rank{0}, [&] {
    ModelHost host = engine.host(Rank{0});
    host.notify(Rank{0});
    host.idle({1'000'000});
    CHECK(host.now().ps == 0);
    host.idle({1'000'000});
    CHECK(host.now().ps == 1'000'000);
  });
  engine.run();
}

TEST_CASE("notice_to_another_node_is_refused") {
  Engine engine(options_for(2, 2));
  engine.start(Rank{0}, [&] { engine.host(Rank{0}).notify(Rank{1}); });
  CHECK_THROWS_AS(engine.run(), UsageError);
}

TEST_CASE("outside_of_bodies_prices_are_charged_but_nobody_waits") {
  Engine engine(options_for(2, 1));
  ModelHost host = engine.host(Rank{1});
  host.charge(PrivatePrice::call);
  host.charge_shared(SharedPrice::line_store);
  CHECK(host.now().ps == 21'000);
  CHECK(engine.now().ps == 0);
  CHECK_THROWS_AS(host.idle(kNever), UsageError);
}

}  // namespace
}  // namespace gasmeter::sim::model_host_test
