#include "gasmeter/sim/engine/engine.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "gasmeter/sim/engine/model_host.hpp"
#include "prices.hpp"

namespace gasmeter::sim::engine_test {
namespace {

using conduit::PrivatePrice;
using conduit::SharedPrice;
using testing::options_for;

using Fired = std::vector<std::pair<std::int64_t, int>>;

// An event that writes down when it happens.
struct Note : Action {
  Note(Fired& list, int n) : Action(&Note::happen), fired(list), number(n) {}
  static void happen(Action& self, SimTime now) {
    auto& note = static_cast<Note&>(self);
    note.fired.push_back({now.ps, note.number});
  }
  Fired& fired;
  int number;
};

constexpr NodeId kFirst{0};

TEST_CASE("window_queue_gives_back_every_entry_in_its_window") {
  WindowQueue queue;
  std::mt19937_64 random(7);
  std::multimap<WindowQueue::Window, std::uint64_t> model;
  WindowQueue::Window now = 0;
  std::uint64_t next = 0;
  for (int step = 0; step < 20'000; ++step) {
    // Now and then post many, which take several chunks.
    const std::uint64_t most = random() % 256 == 0 ? 500 : 4;
    for (std::uint64_t posts = random() % most; posts != 0; --posts) {
      // Post near, far, and at the edge of the ring between them.
      const std::uint64_t ahead =
          random() % 3 == 0 ? random() % 20'000 : (random() % 2 == 0 ? random() % 8 : 1020 + random() % 8);
      const WindowQueue::Window window = now + static_cast<WindowQueue::Window>(ahead);
      queue.post(window, {next, nullptr});
      model.emplace(window, next++);
    }
    if (model.empty()) {
      CHECK(queue.next() == WindowQueue::kNone);
      continue;
    }
    CHECK(queue.next() == model.begin()->first);
    // Sometimes open a window that holds nothing.
    now = random() % 5 == 0 ? now + (queue.next() - now) / 2 : queue.next();
    const PostedList list = queue.take(now);
    std::multiset<std::uint64_t> places;
    list.each_chunk([&places](const Posted* entries, std::size_t count) {
      for (const Posted& entry : std::span(entries, count)) places.insert(entry.place);
    });
    queue.give(list);
    std::multiset<std::uint64_t> expected;
    const auto [first, last] = model.equal_range(now);
    for (auto each = first; each != last; ++each) expected.insert(each->second);
    CHECK(places == expected);
    model.erase(first, last);
  }
}

TEST_CASE("ranks_fill_nodes_contiguously") {
  Engine engine(options_for(5, 2));
  CHECK(index(engine.node_of(Rank{2})) == 0);
  CHECK(index(engine.node_of(Rank{3})) == 1);
  CHECK(engine.ranks_of(NodeId{0}).size() == 3);
  CHECK(engine.ranks_of(NodeId{1}).front() == Rank{3});
  CHECK(engine.ranks_of(NodeId{1}).back() == Rank{4});
  Engine sparse(options_for(1, 3));
  CHECK(sparse.ranks_of(NodeId{2}).empty());
}

TEST_CASE("ranks_are_placed_where_they_are_told") {
  EngineOptions options = options_for(4, 3);
  options.node_of = {2, 0, 2, 0};
  Engine engine(options);
  CHECK(engine.node_of(Rank{0}) == NodeId{2});
  CHECK(std::ranges::equal(engine.ranks_of(NodeId{0}), std::vector{Rank{1}, Rank{3}}));
  CHECK(engine.ranks_of(NodeId{1}).empty());
  options.node_of = {0, 1, 3, 0};
  CHECK_THROWS_AS(Engine{options}, UsageError);
  options.node_of = {0, 1};
  CHECK_THROWS_AS(Engine{options}, UsageError);
}

TEST_CASE("nonsense_options_are_refused_by_name") {
  CHECK_THROWS_AS(Engine(options_for(0, 1)), UsageError);
  CHECK_THROWS_AS(Engine(options_for(1, 0)), UsageError);
  EngineOptions free_polls = options_for(1, 1);
  free_polls.prices[PrivatePrice::poll_miss].fixed = {0};
  CHECK_THROWS_AS(Engine{free_polls}, UsageError);
  EngineOptions negative = options_for(1, 1);
  negative.prices.copy.per_byte_fs = -1;
  CHECK_THROWS_AS(Engine{negative}, UsageError);
  Engine engine(options_for(2, 1));
  CHECK_THROWS_AS((void)engine.host(Rank{2}), UsageError);
}

TEST_CASE("events_fire_in_time_order_and_equal_times_in_order_of_posting") {
  Engine engine(options_for(1, 1));
  Fired fired;
  std::deque<Note> notes;
  for (int i = 0; i < 5; ++i) notes.emplace_back(fired, i);
  engine.post(kFirst, kFirst, {300}, notes[0]);
  engine.post(kFirst, kFirst, {100}, notes[1]);
  engine.post(kFirst, kFirst, {300}, notes[2]);
  engine.post(kFirst, kFirst, {200}, notes[3]);
  engine.start(Rank{0}, [&] {
    engine.post(kFirst, kFirst, {300}, notes[4]);
    engine.host(Rank{0}).charge(PrivatePrice::call);
  });
  engine.run();
  CHECK(fired == std::vector<std::pair<std::int64_t, int>>{{100, 1}, {200, 3}, {300, 0}, {300, 2}, {300, 4}});
  CHECK(engine.counters().events == 5);
}

TEST_CASE("event_in_the_past_is_refused") {
  Engine engine(options_for(1, 1));
  Fired fired;
  Note note(fired, 0);
  engine.start(Rank{0}, [&] {
    engine.host(Rank{0}).charge(PrivatePrice::call);
    engine.post(kFirst, kFirst, {1}, note);
  });
  CHECK_THROWS_AS(engine.run(), UsageError);
}

TEST_CASE("event_before_the_first_run_of_several_nodes_is_refused") {
  Engine engine(options_for(2, 2));
  Fired fired;
  Note note(fired, 0);
  CHECK_THROWS_AS(engine.post(kFirst, kFirst, {300}, note), UsageError);
}

TEST_CASE("event_between_runs_comes_after_what_every_node_has_seen") {
  for (const unsigned threads : {1U, 2U}) {
    CAPTURE(threads);
    EngineOptions options = options_for(2, 2);
    options.threads = threads;
    Engine engine(options);
    engine.promise_lookahead({100'000});
    Fired fired;
    Note late(fired, 0);
    Note next(fired, 1);
    engine.start(Rank{0}, [&] {
      engine.host(Rank{0}).idle({5'000'000});
      engine.park(Rank{0});
      engine.host(Rank{0}).idle({9'000'000});
    });
    engine.run();
    // The node has not had an event yet.
    CHECK_THROWS_AS(engine.post(NodeId{1}, NodeId{1}, {300}, late), UsageError);
    engine.post(NodeId{1}, NodeId{1}, engine.now(), next);
    const std::int64_t reached = engine.now().ps;
    engine.run();
    CHECK(fired == Fired{{reached, 1}});
  }
}

TEST_CASE("nothing_happens_behind_the_end_of_virtual_time") {
  for (const unsigned nodes : {1U, 2U}) {
    for (const bool strict : {false, true}) {
      CAPTURE(nodes);
      CAPTURE(strict);
      const auto refused = [&](const std::function<void(Engine&, Note&)>& body) {
        Engine engine(options_for(nodes, nodes, strict));
        if (nodes > 1) engine.promise_lookahead({100'000});
        Fired fired;
        Note note(fired, 0);
        engine.start(Rank{0}, [&] { body(engine, note); });
        std::string said;
        try {
          engine.run();
        } catch (const UsageError& error) {
          said = error.what();
        }
        CHECK(said.find("sim: virtual time ends at 4000000 s (46 days)") == 0);
        CHECK(said.find('\n') == std::string::npos);
        CHECK(fired.empty());
      };
      // Refused are single times that are too long, and sums of times that are not.
      refused([](Engine& engine, Note& note) {
        engine.post(kFirst, kFirst, kLastInstant + SimTime{1}, note);
        engine.park(Rank{0});
      });
      refused([](Engine& engine, Note& note) { engine.post(kFirst, kFirst, kTooLate, note); });
      refused([](Engine& engine, Note&) { engine.host(Rank{0}).idle(kLastInstant + SimTime{1}); });
      refused([](Engine& engine, Note&) {
        for (int i = 0; i < 40; ++i) engine.host(Rank{0}).pass({1'000'000'000'000'000'000});
      });
      refused([](Engine& engine, Note&) {
        for (int i = 0; i < 40; ++i)
          engine.host(Rank{0}).idle(engine.host(Rank{0}).now() + SimTime{1'000'000'000'000'000'000});
      });
      refused([](Engine& engine, Note&) {
        for (int i = 0; i < 40; ++i) (void)engine.host(Rank{0}).work({1'000'000'000'000'000'000}, false);
      });
    }
  }
}

TEST_CASE("last_instant_of_virtual_time_is_reached") {
  for (const unsigned nodes : {1U, 2U}) {
    Engine engine(options_for(nodes, nodes));
    if (nodes > 1) engine.promise_lookahead({100'000});
    Fired fired;
    Note note(fired, 0);
    engine.start(Rank{0}, [&] {
      engine.post(kFirst, kFirst, kLastInstant, note);
      engine.host(Rank{0}).pass(kLastInstant);
      engine.host(Rank{0}).synchronise();
    });
    engine.run();
    CHECK(fired == Fired{{kLastInstant.ps, 0}});
  }
}

TEST_CASE("at_one_instant_events_come_first_then_ranks_by_number") {
  Engine engine(options_for(3, 1));
  std::string order;
  struct Letter : Action {
    explicit Letter(std::string& text) : Action(&Letter::happen), order(text) {}
    static void happen(Action& self, SimTime) { static_cast<Letter&>(self).order += 'e'; }
    std::string& order;
  } letter(order);
  engine.post(kFirst, kFirst, {1'000}, letter);
  // Rank 2 reaches the instant with the fewest steps and rank 0 with the most.
  for (unsigned i : {2U, 1U, 0U}) {
    engine.start(Rank{i}, [&, i] {
      ModelHost host = engine.host(Rank{i});
      for (unsigned step = 0; step < 3 - i; ++step) host.synchronise();
      host.charge(PrivatePrice::call);
      host.synchronise();
      order += static_cast<char>('0' + i);
    });
  }
  engine.run();
  CHECK(order == "e012");
}

TEST_CASE("parked_ranks_resume_together_at_the_next_run") {
  Engine engine(options_for(2, 1));
  std::vector<std::int64_t> began(2);
  int blocks = 0;
  for (unsigned i = 0; i < 2; ++i) {
    engine.start(Rank{i}, [&, i] {
      ModelHost host = engine.host(Rank{i});
      for (int block = 0; block < 3; ++block) {
        engine.park(Rank{i});
        began[i] = host.now().ps;
        for (unsigned n = 0; n <= i; ++n) host.charge(PrivatePrice::call);
        ++blocks;
      }
    });
  }
  engine.run();
  CHECK(blocks == 0);
  for (int block = 0; block < 3; ++block) {
    engine.run();
    CHECK(blocks == 2 * (block + 1));
    // Rank 1 needs 2 ns a block, so that rank 0, which needs 1 ns, waits for it.
    CHECK(began[0] == block * 2'000);
    CHECK(began[1] == block * 2'000);
  }
  engine.run();  // nothing is left to do
  engine.start(Rank{0}, [&] { ++blocks; });
  engine.run();
  CHECK(blocks == 7);
}

TEST_CASE("deadlock_names_every_waiting_rank") {
  Engine engine(options_for(3, 3));
  int alive = 0;
  struct Guard {
    int& alive;
    explicit Guard(int& count) : alive(count) { ++alive; }
    Guard(const Guard&) = delete;
    Guard& operator=(const Guard&) = delete;
    ~Guard() { --alive; }
  };
  for (unsigned i = 0; i < 2; ++i) {
    engine.start(Rank{i}, [&, i] {
      const Guard guard(alive);
      ModelHost host = engine.host(Rank{i});
      for (unsigned n = 0; n <= i; ++n) host.charge(PrivatePrice::call);
      if (i == 1) host.describe_wait("a reply from rank 0");
      host.idle(kNever);
    });
  }
  engine.start(Rank{2}, [&] { engine.park(Rank{2}); });
  CHECK_THROWS_WITH_AS(engine.run(),
                       "sim: deadlock at 0.000 ns: nothing is under way, 2 of 3 ranks wait, 1 have ended the block, 0 "
                       "the program\n"
                       "rank 0 (node 0) at 1.000 ns waits for an arrival\n"
                       "rank 1 (node 1) at 2.000 ns waits for a reply from rank 0",
                       Deadlock);
  CHECK(alive == 0);
  CHECK_THROWS_AS(engine.run(), UsageError);
}

TEST_CASE("first_exception_of_a_body_cancels_the_others_and_leaves_run") {
  Engine engine(options_for(3, 1));
  int unwound = 0;
  struct OnExit {
    int& count;
    explicit OnExit(int& c) : count(c) {}
    OnExit(const OnExit&) = delete;
    OnExit& operator=(const OnExit&) = delete;
    ~OnExit() { ++count; }
  };
  for (unsigned i = 0; i < 3; ++i) {
    engine.start(Rank{i}, [&, i] {
      const OnExit on_exit(unwound);
      ModelHost host = engine.host(Rank{i});
      host.charge(PrivatePrice::call);
      host.synchronise();
      if (i == 1) throw std::runtime_error("rank 1 is wrong");
      host.idle(kNever);
    });
  }
  CHECK_THROWS_WITH_AS(engine.run(), "rank 1 is wrong", std::runtime_error);
  CHECK(unwound == 3);
}

TEST_CASE("exception_of_a_device_leaves_run") {
  Engine engine(options_for(1, 1));
  struct Broken : Action {
    Broken() : Action([](Action&, SimTime) { throw std::runtime_error("device"); }) {}
  } broken;
  engine.post(kFirst, kFirst, {5}, broken);
  engine.start(Rank{0}, [&] { engine.host(Rank{0}).idle(kNever); });
  CHECK_THROWS_WITH(engine.run(), "device");
}

TEST_CASE("waiting_inside_a_catch_block_is_refused") {
  Engine engine(options_for(1, 1));
  engine.start(Rank{0}, [&] {
    try {
      throw 1;
    } catch (int) {
      engine.host(Rank{0}).idle({1'000'000});
    }
  });
  CHECK_THROWS_AS(engine.run(), UsageError);
}

TEST_CASE("run_may_be_called_inside_a_catch_block") {
  Engine engine(options_for(2, 1));
  int done = 0;
  for (unsigned i = 0; i < 2; ++i) {
    engine.start(Rank{i}, [&, i] {
      engine.host(Rank{i}).idle({1'000});
      ++done;
    });
  }
  try {
    throw 1;
  } catch (int) {
    engine.run();
  }
  CHECK(done == 2);
}

TEST_CASE("rank_that_polls_for_ever_can_be_interrupted") {
  Engine engine(options_for(1, 1));
  int polls = 0;
  engine.start(Rank{0}, [&] {
    ModelHost host = engine.host(Rank{0});
    for (;;) {
      host.synchronise();
      host.charge(PrivatePrice::poll_miss);
      if (++polls == 10'000) engine.stop_token().request();
    }
  });
  CHECK_THROWS_AS(engine.run(), Interrupted);
  CHECK(polls < 20'000);
}

TEST_CASE("destructors_on_cancelled_stacks_may_use_the_host") {
  Engine engine(options_for(2, 1));
  Fired fired;
  Note note(fired, 0);
  struct Closing {
    Engine& engine;
    Note& note;
    Closing(Engine& e, Note& n) : engine(e), note(n) {}
    Closing(const Closing&) = delete;
    Closing& operator=(const Closing&) = delete;
    ~Closing() {
      ModelHost host = engine.host(Rank{1});
      host.charge_shared(SharedPrice::line_store);
      host.notify(Rank{0});
      engine.post(host.node(), host.node(), host.now(), note);
    }
  };
  engine.start(Rank{0}, [&] { engine.host(Rank{0}).idle(kNever); });
  engine.start(Rank{1}, [&] {
    const Closing closing(engine, note);
    engine.host(Rank{1}).idle(kNever);
  });
  CHECK_THROWS_AS(engine.run(), Deadlock);
  CHECK(fired.empty());
}

TEST_CASE("several_engines_live_side_by_side") {
  Engine outer(options_for(1, 1));
  std::int64_t inner_end = 0;
  outer.start(Rank{0}, [&] {
    outer.host(Rank{0}).charge(PrivatePrice::call);
    Engine inner(options_for(1, 1));
    inner.start(Rank{0}, [&] {
      inner.host(Rank{0}).idle({25'000});
      inner_end = inner.host(Rank{0}).now().ps;
    });
    inner.run();
  });
  outer.run();
  CHECK(inner_end == 30'000);
  CHECK(outer.now().ps == 1'000);
}

TEST_CASE("steps_run_on_the_main_stack_at_the_instant_of_their_rank") {
  for (const FibreMaker maker : available_makers()) {
    CAPTURE(name(maker));
    EngineOptions options = options_for(3, 1);
    options.fibres = maker;
    Engine engine(options);
    struct Step {
      ModelHost host;
      std::vector<std::int64_t>& of_all;
      std::vector<std::int64_t> instants;
      std::vector<std::uintptr_t> stacks;
    };
    std::vector<std::int64_t> of_all;
    std::deque<Step> steps;
    for (unsigned i = 0; i < 3; ++i) steps.push_back({engine.host(Rank{i}), of_all, {}, {}});
    for (unsigned i = 0; i < 3; ++i) {
      engine.start(Rank{i}, [&step = steps[i], i] {
        for (int turn = 0; turn < 4; ++turn) {
          step.host.spend(SimTime{100 * (i + 1)});
          step.host.on_main_stack(
              [](void* argument) noexcept {
                auto& here = *static_cast<Step*>(argument);
                here.instants.push_back(here.host.now().ps);
                here.of_all.push_back(here.host.now().ps);
                here.stacks.push_back(reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)));
              },
              &step);
        }
      });
    }
    engine.run();
    // No step comes before an earlier step, whose change it could otherwise see.
    CHECK(std::is_sorted(of_all.begin(), of_all.end()));
    for (unsigned i = 0; i < 3; ++i) {
      const std::int64_t each = 100 * (i + 1);
      CHECK(steps[i].instants == std::vector<std::int64_t>{each, 2 * each, 3 * each, 4 * each});
      // All steps use one stack: that of the caller of run().
      for (const std::uintptr_t stack : steps[i].stacks) CHECK(stack == steps[0].stacks[0]);
    }
  }
}

TEST_CASE("a_step_is_refused_where_its_rank_could_not_wait") {
  Engine engine(options_for(1, 1));
  ModelHost host = engine.host(Rank{0});
  const auto step = [](void*) noexcept {};
  CHECK_THROWS_WITH_AS(host.on_main_stack(step, nullptr), "sim: rank 0 waits outside of its body", UsageError);
}

TEST_CASE("thousands_of_ranks_take_turns") {
  const unsigned ranks = Fibre::default_stack_bytes() > 64 * 1024 ? 256 : 4096;
  for (const unsigned nodes : {1U, ranks / 8}) {
    Engine engine(options_for(ranks, nodes));
    const unsigned mates = ranks / nodes;
    std::vector<std::uint64_t> order_sum(nodes);
    std::vector<std::uint64_t> turn(nodes);
    for (unsigned i = 0; i < ranks; ++i) {
      engine.start(Rank{i}, [&, i] {
        ModelHost host = engine.host(Rank{i});
        for (int round = 0; round < 5; ++round) {
          host.charge(PrivatePrice::call);
          host.synchronise();
          order_sum[i / mates] += ++turn[i / mates] * (i % mates + 1);
        }
        CHECK(host.now().ps == 5'000);
      });
    }
    engine.run();
    std::uint64_t expected = 0;
    for (std::uint64_t t = 0; t < 5ULL * mates; ++t) expected += (t + 1) * (t % mates + 1);
    CHECK(order_sum == std::vector<std::uint64_t>(nodes, expected));
  }
}

}  // namespace
}  // namespace gasmeter::sim::engine_test
