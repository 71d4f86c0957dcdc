// Events at the very instants of repeating traffic, and behind its last period.
#include "gasmeter/sim/engine/fast_forward.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <vector>

#include "gasmeter/sim/engine/engine.hpp"
#include "gasmeter/sim/engine/model_host.hpp"
#include "prices.hpp"

namespace gasmeter::sim::fast_forward_test {
namespace {

using testing::options_for;

constexpr NodeId kHere{0};
constexpr SimTime kPeriod{100};

// A unit of one node that acts every 100 ps, `ticks` times, and has each act followed up much later.
class Toy final : public SteadyTraffic {
 public:
  Toy(Engine& engine, std::uint64_t ticks)
      : engine_(engine), ticks_left_at_(ticks), tick_(*this, &Toy::on_tick), half_way_(*this, &Toy::on_half_way) {
    engine.promise_lookahead({1'000});
    engine.fast_forward().set_traffic(this);
    engine.fast_forward().count_long(1);
  }
  void begin_at(SimTime at) { engine_.post(kHere, kHere, at, tick_); }
  // After `ticks` ticks post something else at each tick, which happens some while later.
  void post_others_after(std::uint64_t ticks) { others_after_ = ticks; }

  // Post something else at each tick, for much later, without telling the traffic's walk.
  void post_others_unsaid() { posts_unsaid_ = true; }

  // At that tick post a look at `at` instead of the half-way event.
  void look_instead(std::uint64_t tick, SimTime at) {
    instead_at_ = tick;
    instead_ = at;
  }

  // Write down, at `at`, how far the traffic has come.
  void look_at(SimTime at) { engine_.post(kHere, kHere, at, make(&Toy::on_look)); }
  // Post, at `at`, a look for `then`.
  void look_later(SimTime at, SimTime then) {
    Own& event = make(&Toy::on_look_later);
    event.then = then;
    engine_.post(kHere, kHere, at, event);
  }
  struct Look {
    std::int64_t at;
    std::uint64_t ticks;
    std::uint64_t followed;
    bool operator==(const Look&) const = default;
  };
  [[nodiscard]] const std::vector<Look>& looks() const { return looks_; }

  bool begin() override { return ticks_ + 40 < ticks_left_at_; }
  void end() override {}
  SimTime worthwhile() const override { return {2'000}; }
  bool is_part(const Posted& entry) const override {
    const auto is_it = [&entry](const Own& event) { return &event == entry.action && event.is_part; };
    return is_beat(entry) || entry.action == &half_way_ || std::any_of(made_.begin(), made_.end(), is_it);
  }
  bool is_beat(const Posted& entry) const override { return entry.action == &tick_; }
  void walk(StateWalk& walk) override {
    std::uint64_t limit = ticks_left_at_;
    if (others_after_ != 0) limit = others_after_;
    if (ticks_ < instead_at_) limit = instead_at_;
    walk.counter(ticks_, limit - 1);
    walk.counter(followed_);
  }
  void walk(const Posted& entry, StateWalk& walk) override { walk.word(entry.action == &tick_ ? 1 : 0); }
  void moved() override { ++moves_; }
  [[nodiscard]] unsigned moves() const { return moves_; }

 private:
  struct Own : Action {
    Own(Toy& of, void (*happen)(Action& self, SimTime now)) : Action(happen), toy(of) {}
    Toy& toy;
    SimTime then;
    bool is_part = false;
  };
  Own& make(void (*happen)(Action& self, SimTime now)) { return made_.emplace_back(*this, happen); }

  static void on_tick(Action& self, SimTime now) {
    Toy& toy = static_cast<Own&>(self).toy;
    if (++toy.ticks_ < toy.ticks_left_at_) toy.engine_.post(kHere, kHere, now + kPeriod, toy.tick_);
    if (toy.free_.empty()) toy.free_.push_back(&toy.make(&Toy::on_follow));
    Own& follow = *toy.free_.back();
    toy.free_.pop_back();
    follow.is_part = true;
    toy.engine_.post(kHere, kHere, now + SimTime{20'000}, follow);
    if (toy.ticks_ == toy.instead_at_) {
      toy.look_at(toy.instead_);
    } else {
      toy.engine_.post(kHere, kHere, now + SimTime{50}, toy.half_way_);
    }
    if (toy.posts_unsaid_) toy.look_at(now + SimTime{30'000});
    if (toy.others_after_ != 0 && toy.ticks_ >= toy.others_after_) toy.look_at(now + SimTime{350});
  }
  static void on_follow(Action& self, SimTime) {
    auto& event = static_cast<Own&>(self);
    ++event.toy.followed_;
    event.toy.free_.push_back(&event);
  }
  static void on_half_way(Action&, SimTime) {}
  static void on_look(Action& self, SimTime now) {
    Toy& toy = static_cast<Own&>(self).toy;
    toy.looks_.push_back({now.ps, toy.ticks_, toy.followed_});
  }
  static void on_look_later(Action& self, SimTime) {
    auto& event = static_cast<Own&>(self);
    event.toy.look_at(event.then);
  }

  Engine& engine_;
  std::uint64_t ticks_left_at_;
  std::uint64_t others_after_ = 0;
  bool posts_unsaid_ = false;
  std::uint64_t instead_at_ = 0;
  SimTime instead_;
  Own tick_;
  Own half_way_;
  std::deque<Own> made_;
  std::vector<Own*> free_;
  std::uint64_t ticks_ = 0;
  std::uint64_t followed_ = 0;
  unsigned moves_ = 0;
  std::vector<Look> looks_;
};

struct Outcome {
  std::vector<Toy::Look> looks;
  std::uint64_t events = 0;
  unsigned moves = 0;
};

Outcome outcome(bool fast_forward, std::uint64_t ticks, const std::function<void(Toy& toy)>& others) {
  EngineOptions options = options_for(2, 2);
  options.fast_forward = fast_forward;
  Engine engine(options);
  Toy toy(engine, ticks);
  engine.start(Rank{0}, [&] {
    toy.begin_at({500});
    others(toy);
    engine.host(Rank{0}).idle({1'000'000});
  });
  engine.run();
  engine.fast_forward().set_traffic(nullptr);
  return {toy.looks(), engine.counters().events, toy.moves()};
}

void check_same(std::uint64_t ticks, const std::function<void(Toy& toy)>& others) {
  const Outcome one_by_one = outcome(false, ticks, others);
  const Outcome seen = outcome(true, ticks, others);
  CHECK(seen.looks == one_by_one.looks);
  CHECK(one_by_one.moves == 0);
  CHECK(seen.moves > 0);
  CHECK(seen.events < one_by_one.events / 2);
}

// An event is posted before the traffic has moved on, for an instant of the traffic itself. Events posted since then
// come behind it, events posted earlier before it.
TEST_CASE("what_is_posted_keeps_its_place_at_equal_instants") {
  for (std::int64_t at = 90'000; at < 90'400; at += 50) {
    CAPTURE(at);
    check_same(5'000, [at](Toy& toy) { toy.look_later({40'000}, {at}); });
    check_same(5'000, [at](Toy& toy) { toy.look_later({40'040}, {at}); });
    check_same(5'000, [at](Toy& toy) { toy.look_at({at}); });
    check_same(5'000, [at](Toy& toy) { toy.look_later({at - 19'950}, {at}); });
  }
}

// As many events are posted as at any other tick, so that the state shows no difference. Only the numbers that have
// moved on tell that the event was posted before those of its instant.
TEST_CASE("numbers_of_what_has_moved_on_are_behind_those_of_what_was_posted_before") {
  for (std::uint64_t tick = 280; tick < 290; ++tick) {
    CAPTURE(tick);
    check_same(5'000, [tick](Toy& toy) { toy.look_instead(tick, {90'000}); });
  }
}

TEST_CASE("nothing_passes_at_once_that_comes_behind_anything_else") {
  check_same(2'000, [](Toy& toy) {
    for (std::int64_t at = 7'003; at < 260'000; at += 9'973) toy.look_at({at});
  });
}

TEST_CASE("traffic_stops_where_its_limit_is") {
  for (const std::uint64_t ticks : {600U, 601U, 777U}) {
    CAPTURE(ticks);
    check_same(ticks, [](Toy& toy) { toy.look_at({500'000}); });
  }
}

// Events that the traffic itself posts for others.
TEST_CASE("what_traffic_has_others_do_is_waited_for") {
  for (const std::uint64_t after : {800U, 801U}) {
    CAPTURE(after);
    check_same(950, [after](Toy& toy) { toy.post_others_after(after); });
  }
}

TEST_CASE("traffic_that_has_others_do_something_in_each_period_does_not_pass_at_once") {
  const auto others = [](Toy& toy) { toy.post_others_unsaid(); };
  const Outcome one_by_one = outcome(false, 600, others);
  const Outcome seen = outcome(true, 600, others);
  CHECK(seen.looks == one_by_one.looks);
  CHECK(seen.looks.size() == 600);
  CHECK(seen.moves == 0);
}

}  // namespace
}  // namespace gasmeter::sim::fast_forward_test
