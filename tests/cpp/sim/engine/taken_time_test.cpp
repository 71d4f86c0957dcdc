// Golden times: tests/golden/taken_time.md has the sums.
#include "gasmeter/sim/engine/taken_time.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <random>
#include <vector>

#include "gasmeter/base/error.hpp"
#include "gasmeter/sim/engine/engine.hpp"
#include "gasmeter/sim/engine/model_host.hpp"
#include "gasmeter/sim/trace/tracer.hpp"
#include "prices.hpp"

namespace gasmeter::sim::taken_time_test {
namespace {

using conduit::PrivatePrice;
using testing::options_for;

constexpr NodeId kNode{0};
constexpr Rank kRank{0};

SimTime ns(std::int64_t time) {
  return {time * 1000};
}

struct Event : Action {
  explicit Event(std::function<void(SimTime)> what)
      : Action([](Action& self, SimTime now) { static_cast<Event&>(self).happens(now); }), happens(std::move(what)) {}
  std::function<void(SimTime)> happens;
};

// One rank on one node, and events at given instants.
struct Alone {
  explicit Alone(bool strict) : engine(options_for(1, 1, strict)) { engine.take_interrupts(kRank); }
  void at(SimTime time, std::function<void(SimTime)> what) {
    engine.post(kNode, kNode, time, events.emplace_back(std::move(what)));
  }
  void interrupt_at(SimTime time, SimTime cost) {
    Event& done = events.emplace_back([this](SimTime now) { handled.push_back(now); });
    at(time, [this, cost, &done](SimTime) { engine.interrupt(kRank, cost, &done); });
  }
  void wake_at(SimTime time) {
    at(time, [this](SimTime now) { engine.wake(kRank, now); });
  }
  void run(const std::function<void(ModelHost)>& body) {
    engine.start(kRank, [&] { body(engine.host(kRank)); });
    engine.run();
  }
  Engine engine;
  std::deque<Event> events;
  std::vector<SimTime> handled;
};

TEST_CASE("work_takes_as_much_longer_as_interrupts_that_come_before_its_end") {
  for (const bool strict : {false, true}) {
    Alone alone(strict);
    alone.interrupt_at(ns(50), ns(30));
    alone.interrupt_at(ns(120), ns(20));
    alone.interrupt_at(ns(150), ns(5));  // at the very end: still before the rank's next act
    alone.interrupt_at(ns(156), ns(1000));
    SimTime end;
    alone.run([&](ModelHost host) {
      CHECK(host.work(ns(100), false) == SimTime{});
      end = host.now();
    });
    CHECK(end == ns(155));
    CHECK(alone.handled == std::vector{ns(80), ns(140), ns(155)});
  }
}

TEST_CASE("prices_that_a_rank_pays_ahead_take_as_much_longer") {
  for (const bool strict : {false, true}) {
    Alone alone(strict);
    alone.interrupt_at(ns(10), ns(30));
    alone.interrupt_at(ns(15), ns(4));  // while the core handles the first one
    SimTime end;
    alone.run([&](ModelHost host) {
      for (int i = 0; i < 3; ++i) host.charge(PrivatePrice::header_build);  // 21
      end = host.read_clock();
    });
    CHECK(end == ns(55));
    CHECK(alone.handled == std::vector{ns(40), ns(44)});
    CHECK(alone.engine.interrupted(kRank) == ns(34));
  }
}

// A copy that uses its share of the node's memory begins after earlier interrupts.
TEST_CASE("a_copy_from_memory_is_put_off_by_what_interrupts_its_rank_before") {
  for (const bool strict : {false, true}) {
    EngineOptions options = options_for(1, 1, strict);
    options.prices.memory_per_byte_fs = 400;
    options.prices.memory_from = 4096;
    Engine engine(options);
    engine.take_interrupts(kRank);
    Event interruption([&](SimTime) { engine.interrupt(kRank, ns(30), nullptr); });
    engine.post(kNode, kNode, ns(10), interruption);
    std::vector<std::byte> from(4096);
    std::vector<std::byte> to(4096);
    SimTime end;
    engine.start(kRank, [&] {
      ModelHost host = engine.host(kRank);
      host.spend(ns(20));
      host.copy(to.data(), from.data(), from.size());
      end = host.read_clock();
    });
    engine.run();
    CHECK(end == ns(50) + options.prices.copy.of(from.size()));
  }
}

TEST_CASE("a_trace_tells_what_interrupts_take_from_a_rank_that_works") {
  Alone alone(false);
  Tracer tracer(1);
  alone.engine.trace(&tracer);
  alone.interrupt_at(ns(10), ns(30));
  SimTime end;
  alone.run([&](ModelHost host) {
    host.spend(ns(15), Step::header);
    host.spend(ns(5), Step::copy);
    end = host.read_clock();
  });
  CHECK(end == ns(50));
  SimTime taken;
  for (const Stretch& stretch : tracer.way(kRank, {}, end)) {
    CHECK(stretch.step != Step::unknown);
    if (stretch.step == Step::driver) taken = taken + (stretch.end - stretch.begin);
  }
  CHECK(taken == ns(30));
}

TEST_CASE("what_a_rank_does_to_a_device_is_put_off_by_what_interrupts_it_before") {
  for (const bool strict : {false, true}) {
    Alone alone(strict);
    alone.interrupt_at(ns(10), ns(30));
    SimTime done;
    Event& deed = alone.events.emplace_back([&done](SimTime now) { done = now; });
    alone.run([&](ModelHost host) {
      host.spend(ns(15));
      host.act(deed);
      host.spend(ns(5));
    });
    CHECK(done == ns(45));
  }
}

TEST_CASE("polls_of_a_wait_go_on_where_an_interrupt_found_them") {
  for (const bool strict : {false, true}) {
    Alone alone(strict);
    alone.interrupt_at(ns(33), ns(7));
    alone.wake_at(ns(52));
    SimTime end;
    SimTime idled;
    alone.run([&](ModelHost host) {
      host.idle(kNever);
      end = host.now();
      idled = host.idled();
    });
    CHECK(end == ns(57));
    CHECK(idled == ns(50));
  }
}

TEST_CASE("an_interrupt_between_a_wake_and_the_poll_that_sees_it_puts_the_poll_off") {
  Alone alone(false);
  alone.wake_at(ns(52));
  alone.interrupt_at(ns(54), ns(100));
  SimTime end;
  alone.run([&](ModelHost host) {
    host.idle(kNever);
    end = host.now();
  });
  CHECK(end == ns(160));
}

TEST_CASE("a_deadline_is_seen_by_the_first_poll_after_it_that_interrupts_allow") {
  Alone alone(false);
  alone.interrupt_at(ns(95), ns(53));
  SimTime end;
  alone.run([&](ModelHost host) {
    host.idle(ns(991));
    end = host.now();
  });
  CHECK(end == ns(993));
}

TEST_CASE("nothing_ends_a_stall_but_what_it_waits_for") {
  for (const bool strict : {false, true}) {
    Alone alone(strict);
    alone.wake_at(ns(50));
    alone.interrupt_at(ns(60), ns(9));
    alone.interrupt_at(ns(107), ns(6));
    alone.at(ns(100), [&](SimTime) { alone.engine.resume(kRank, ns(105)); });
    std::vector<SimTime> ends;
    alone.run([&](ModelHost host) {
      host.charge(PrivatePrice::dispatch);  // 5
      host.stall();
      ends.push_back(host.now());
      host.idle(kNever);  // the wake at 50 was kept
      ends.push_back(host.now());
    });
    CHECK(ends == std::vector{ns(120), ns(120)});
    CHECK(alone.handled == std::vector{ns(114), ns(120)});
  }
}

TEST_CASE("a_stall_whose_end_is_known_before_it_begins_ends_there") {
  Alone alone(false);
  std::vector<SimTime> ends;
  alone.run([&](ModelHost host) {
    alone.engine.resume(kRank, ns(30));
    host.stall();
    ends.push_back(host.now());
    alone.engine.resume(kRank, ns(30));
    host.spend(ns(5));
    host.stall();  // it is over before it begins
    ends.push_back(host.now());
  });
  CHECK(ends == std::vector{ns(30), ns(35)});
}

TEST_CASE("a_rank_that_stalls_for_ever_is_reported") {
  Alone alone(false);
  try {
    alone.run([](ModelHost host) { host.stall(); });
    FAIL("it ended");
  } catch (const Deadlock& report) {
    CHECK(std::string(report.what()).find("waits for the end of a stall") != std::string::npos);
  }
}

TEST_CASE("messages_cut_work_that_lets_them") {
  for (const bool strict : {false, true}) {
    Alone alone(strict);
    alone.interrupt_at(ns(40), ns(20));
    alone.wake_at(ns(50));
    std::vector<SimTime> seen;
    alone.run([&](ModelHost host) {
      const SimTime left = host.work(ns(100), true);  // returns at 60, when the core is done with the interrupt
      seen.push_back(host.now());
      seen.push_back(left);
      host.spend(ns(7));  // the message's handler
      CHECK(host.work(left, true) == SimTime{});
      seen.push_back(host.now());
    });
    CHECK(seen == std::vector{ns(60), ns(60), ns(127)});
  }
}

TEST_CASE("a_poll_that_finds_nothing_costs_what_the_network_adds") {
  Alone alone(false);
  alone.wake_at(ns(20));
  SimTime end;
  alone.run([&](ModelHost host) {
    host.price_polls(ns(3));
    host.idle(kNever);
    end = host.now();
    host.charge(PrivatePrice::poll_miss);
    host.pay_poll_price();
    CHECK(host.now() - end == ns(13));
  });
  CHECK(end == ns(26));
}

TEST_CASE("a_rank_that_gets_nothing_for_a_second_costs_no_computer_time") {
  constexpr SimTime kSecond{1'000'000'000'000};
  Alone alone(false);
  alone.wake_at(kSecond);
  SimTime end;
  alone.run([&](ModelHost host) {
    host.price_polls(ns(3));
    host.idle(kNever);
    end = host.now();
  });
  CHECK(end >= kSecond);
  CHECK(end - kSecond < ns(13));
  CHECK(alone.engine.counters().switches == 2);  // 77 million polls
}

TEST_CASE("what_cannot_be_is_refused_in_one_line") {
  Alone alone(false);
  alone.run([&](ModelHost host) {
    CHECK_THROWS_WITH_AS((void)host.work(ns(-5), false), "sim: work of -5000 ps; 0 or more is allowed", UsageError);
    CHECK_THROWS_WITH_AS(host.price_polls(ns(-1)), "sim: a poll that finds nothing for -1000 ps; 0 or more is allowed",
                         UsageError);
    CHECK_THROWS_WITH_AS(alone.engine.interrupt(kRank, ns(-1), nullptr),
                         "sim: an interrupt of -1000 ps; 0 or more is allowed", UsageError);
    alone.engine.resume(kRank, ns(1));
    CHECK_THROWS_WITH_AS(alone.engine.resume(kRank, ns(2)), "sim: rank 0 stalls once and is resumed twice", UsageError);
  });
  Engine other(options_for(1, 1));
  other.host(kRank).price_polls(ns(1));  // loses time, but by no interrupt
  CHECK_THROWS_WITH_AS(other.interrupt(kRank, ns(1), nullptr),
                       "sim: rank 0 is interrupted; its network has not said that it takes interrupts", UsageError);
}

// ---- random schedules against a core that is stepped picosecond by picosecond

struct Deed {
  enum class Kind : std::uint8_t { spend, work, wait, stall } kind;
  std::int64_t time = 0;  // length; for a wait or stall the instant that ends it
};
struct Schedule {
  std::vector<Deed> deeds;
  std::vector<std::pair<std::int64_t, std::int64_t>> interrupts;  // instants and costs, in order
};
constexpr std::int64_t kMiss = 10;

// Steps a core tick by tick: events of an instant happen before the core's step of that instant.
class Oracle {
 public:
  explicit Oracle(const Schedule& schedule) : schedule_(schedule) {}
  std::vector<std::int64_t> ends() {
    std::vector<std::int64_t> all;
    for (const Deed& deed : schedule_.deeds) {
      do_it(deed);
      all.push_back(now_);
    }
    return all;
  }

 private:
  // Let the core serve the rank at this instant, after all interrupts.
  void serve(bool stalled) {
    for (;;) {
      while (next_ < schedule_.interrupts.size() && schedule_.interrupts[next_].first <= now_) {
        owed_ += schedule_.interrupts[next_++].second;
      }
      if (owed_ == 0 || stalled) return;
      --owed_;
      ++now_;
    }
  }
  void do_it(const Deed& deed) {
    switch (deed.kind) {
      case Deed::Kind::spend:
      case Deed::Kind::work:
        serve(false);
        for (std::int64_t left = deed.time; left != 0; --left) {
          ++now_;
          serve(false);
        }
        return;
      case Deed::Kind::wait:
        serve(false);
        for (std::int64_t polled = 0; now_ < deed.time || polled % kMiss != 0; ++polled) {
          ++now_;
          serve(false);
        }
        return;
      case Deed::Kind::stall:
        serve(false);
        while (now_ < deed.time) {
          ++now_;
          serve(true);
        }
        serve(false);
        return;
    }
  }
  const Schedule& schedule_;
  std::size_t next_ = 0;
  std::int64_t owed_ = 0;
  std::int64_t now_ = 0;
};

Schedule random_schedule(std::mt19937_64& random) {
  Schedule schedule;
  std::int64_t at = 0;
  for (std::uint64_t i = random() % 12; i != 0; --i) {
    at += static_cast<std::int64_t>(random() % 120);
    schedule.interrupts.push_back({at, static_cast<std::int64_t>(random() % 40)});
  }
  std::int64_t about = 0;
  for (std::uint64_t i = 1 + random() % 10; i != 0; --i) {
    const auto kind = static_cast<Deed::Kind>(random() % 4);
    const auto time = static_cast<std::int64_t>(random() % 90);
    about += time;
    const bool until = kind == Deed::Kind::wait || kind == Deed::Kind::stall;
    schedule.deeds.push_back({kind, until ? about : time});
  }
  return schedule;
}

// Every node has a rank and a schedule of its own.
struct Nodes {
  Nodes(const std::vector<Schedule>& schedules, bool strict, unsigned threads)
      : engine(options(static_cast<unsigned>(schedules.size()), strict, threads)), ends(schedules.size()) {
    if (schedules.size() > 1) engine.promise_lookahead(SimTime{64});
    for (std::uint32_t i = 0; i < schedules.size(); ++i) {
      engine.take_interrupts(Rank{i});
      engine.start(Rank{i}, [this, i, &schedule = schedules[i]] { run(Rank{i}, schedule); });
    }
    engine.run();
  }
  static EngineOptions options(unsigned ranks, bool strict, unsigned threads) {
    EngineOptions made = options_for(ranks, ranks, strict);
    made.prices[PrivatePrice::poll_miss].fixed = {kMiss};
    made.threads = threads;
    return made;
  }
  void post(Rank rank, std::int64_t at, std::function<void(SimTime)> what) {
    const NodeId node = engine.node_of(rank);
    auto& mine = events[index(rank)];
    engine.post(node, node, SimTime{at}, mine.emplace_back(std::move(what)));
  }
  void run(Rank rank, const Schedule& schedule) {
    ModelHost host = engine.host(rank);
    for (const auto& [at, cost] : schedule.interrupts) {
      post(rank, at, [this, rank, cost = cost](SimTime) { engine.interrupt(rank, SimTime{cost}, nullptr); });
    }
    for (const Deed& deed : schedule.deeds) {
      switch (deed.kind) {
        case Deed::Kind::spend:
          host.spend(SimTime{deed.time});
          break;
        case Deed::Kind::work:
          CHECK(host.work(SimTime{deed.time}, false) == SimTime{});
          break;
        case Deed::Kind::wait:
          wait_until(host, deed.time);
          break;
        case Deed::Kind::stall:
          if (deed.time > host.read_clock().ps) engine.resume(rank, SimTime{deed.time});
          if (deed.time > host.now().ps) host.stall();
          break;
      }
      ends[index(rank)].push_back(host.read_clock().ps);
    }
  }
  // Wait until a wake at that instant, not until a deadline.
  void wait_until(ModelHost& host, std::int64_t time) {
    if (time <= host.read_clock().ps) return;
    bool come = false;
    post(host.rank(), time, [this, rank = host.rank(), &come](SimTime now) {
      come = true;
      engine.wake(rank, now);
    });
    while (!come) host.idle(kNever);
  }
  Engine engine;
  std::deque<std::deque<Event>> events = std::deque<std::deque<Event>>(engine.ranks());
  std::vector<std::vector<std::int64_t>> ends;
};

TEST_CASE("random_schedules_come_to_the_times_of_a_core_that_is_stepped") {
  std::mt19937_64 random(2);
  for (int round = 0; round < 400; ++round) {
    std::vector<Schedule> schedules;
    std::vector<std::vector<std::int64_t>> expected;
    for (int node = 0; node < 1 + round % 5; ++node) {
      schedules.push_back(random_schedule(random));
      expected.push_back(Oracle(schedules.back()).ends());
    }
    CAPTURE(round);
    REQUIRE(Nodes(schedules, false, 1).ends == expected);
    REQUIRE(Nodes(schedules, true, 1).ends == expected);
    for (unsigned threads = 2; threads <= std::min<std::size_t>(4, schedules.size()); ++threads) {
      REQUIRE(Nodes(schedules, false, threads).ends == expected);
    }
  }
}

}  // namespace
}  // namespace gasmeter::sim::taken_time_test
