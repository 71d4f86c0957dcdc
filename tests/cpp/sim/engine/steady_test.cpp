// The parts behind long transfers that pass at once: states are written down and moved on, and posted entries are taken
// out of their windows.
#include "gasmeter/sim/engine/steady.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <random>
#include <set>
#include <vector>

#include "gasmeter/sim/engine/window_queue.hpp"
#include "support/effort.hpp"

namespace gasmeter::sim::steady_test {
namespace {

using gasmeter::testing::rounds;
using Words = std::vector<std::uint64_t>;

constexpr std::uint64_t kNone = std::numeric_limits<std::uint64_t>::max();

TEST_CASE("a_state_is_written_down_relative_to_now") {
  StateWalk::Record record;
  record.words = {1, 2, 3};
  record.counters = {4};
  StateWalk walk({100}, record);
  CHECK_FALSE(walk.is_moving());
  CHECK(walk.now() == SimTime{100});
  SimTime never = kNever;
  SimTime ahead{130};
  SimTime now{100};
  SimTime over{90};
  std::uint32_t small = 7;
  std::uint64_t large = 1'000;
  walk.word(5);
  walk.due(ahead);
  walk.due(never);
  walk.due(now);
  walk.free_from(ahead);
  walk.free_from(now);
  walk.free_from(over);
  walk.free_from(never);
  walk.address(&small);
  walk.counter(small);
  walk.counter(large, 2'000);
  CHECK(record.now == SimTime{100});
  CHECK(record.words == Words{5, 30, kNone, 0, 30, 0, 0, kNone, reinterpret_cast<std::uintptr_t>(&small)});
  CHECK(record.counters == Words{7, 1'000});
  CHECK(walk.limits() == Words{kNone, 2'000});
  CHECK(record.complete);
  // A recording walk changes nothing.
  CHECK(ahead == SimTime{130});
  CHECK(never == kNever);
  CHECK(over == SimTime{90});
  CHECK(small == 7);
  CHECK(large == 1'000);
}

TEST_CASE("a_state_moves_by_what_its_periods_came_to") {
  StateWalk::Record earlier;
  StateWalk::Record later;
  earlier.now = {100};
  earlier.counters = {10, 0xffff'fffe};
  later.now = {130};
  later.counters = {16, 1};  // the second counter has wrapped: it is 32 bits wide
  StateWalk walk(earlier, later, 4);
  CHECK(walk.is_moving());
  CHECK(walk.shift() == SimTime{120});
  SimTime ahead{160};
  SimTime never = kNever;
  SimTime over{129};
  SimTime now{130};
  SimTime taken{131};
  std::uint64_t large = 16;
  std::uint32_t small = 1;
  walk.word(5);
  walk.due(ahead);
  walk.due(never);
  walk.free_from(over);
  walk.free_from(now);
  walk.free_from(taken);
  walk.counter(large, 20);
  walk.counter(small);
  walk.refuse();
  CHECK(ahead == SimTime{280});
  CHECK(never == kNever);
  CHECK(over == SimTime{129});
  CHECK(now == SimTime{130});
  CHECK(taken == SimTime{251});
  CHECK(large == 16 + 4 * 6);
  CHECK(small == 1 + 4 * 3);
}

TEST_CASE("what_is_refused_is_not_complete_until_it_is_written_down_again") {
  StateWalk::Record record;
  StateWalk refused({0}, record);
  refused.refuse();
  refused.word(1);
  CHECK_FALSE(record.complete);
  StateWalk again({0}, record);
  again.word(1);
  CHECK(record.complete);
  CHECK(record.words == Words{1});
}

TEST_CASE("no_period_is_skipped_beyond_a_limit") {
  const auto most = [](const Words& then, const Words& now, const Words& limits) {
    StateWalk::Record earlier;
    StateWalk::Record later;
    earlier.counters = then;
    later.counters = now;
    return StateWalk::most_periods(earlier, later, limits);
  };
  CHECK(most({}, {}, {}) == kNone);
  CHECK(most({10}, {13}, {kNone}) == kNone);
  CHECK(most({10}, {13}, {22}) == 3);
  CHECK(most({10}, {13}, {21}) == 2);
  CHECK(most({10}, {13}, {13}) == 0);
  CHECK(most({10}, {13}, {5}) == 0);
  CHECK(most({10}, {10}, {10}) == kNone);
  CHECK(most({10}, {10}, {5}) == kNone);  // the counter does not grow
  CHECK(most({10, 0, 7}, {13, 8, 9}, {100, 80, kNone}) == 9);
}

// Customers of one server, who come again some while after they have been served. The work of each customer cycles, so
// that their times come round sooner or later.
class Toy {
 public:
  static constexpr std::size_t kRound = 3;

  explicit Toy(std::mt19937& random) : customers_(1 + random() % 4) {
    for (Customer& each : customers_) each.due = {static_cast<std::int64_t>(random() % 50)};
    for (std::size_t i = 0; i < kRound; ++i) {
      work_[i] = {static_cast<std::int64_t>(1 + random() % 20)};
      away_[i] = {static_cast<std::int64_t>(random() % 40)};
      bytes_[i] = random() % 5;
    }
    customers_.push_back({kNever, 0});  // a customer that never comes
  }
  [[nodiscard]] SimTime next() const { return first()->due; }
  // Serve the next customer; return its instant.
  SimTime step() {
    const auto served = std::min_element(customers_.begin(), customers_.end(), earlier);
    const SimTime now = served->due;
    free_ = std::max(free_, now) + work_[served->turn];
    served->due = free_ + away_[served->turn];
    sent_ += bytes_[served->turn];
    served->turn = (served->turn + 1) % kRound;
    ++served_;
    return now;
  }
  void walk(StateWalk& walk, std::uint64_t limit) {
    for (Customer& each : customers_) {
      walk.word(each.turn);
      walk.due(each.due);
    }
    walk.free_from(free_);
    walk.counter(sent_, limit);
    walk.counter(served_);
  }
  [[nodiscard]] std::uint64_t sent() const { return sent_; }
  // Tell whether the two toys behave alike from now on.
  [[nodiscard]] bool is_as(const Toy& other) const {
    const SimTime now = next();
    const auto same = [](const Customer& a, const Customer& b) { return a.due == b.due && a.turn == b.turn; };
    return std::ranges::equal(customers_, other.customers_, same) && sent_ == other.sent_ && served_ == other.served_ &&
           std::max(free_, now) == std::max(other.free_, now);
  }

 private:
  struct Customer {
    SimTime due;
    std::size_t turn = 0;
  };
  static bool earlier(const Customer& a, const Customer& b) { return a.due < b.due; }
  [[nodiscard]] std::vector<Customer>::const_iterator first() const {
    return std::min_element(customers_.begin(), customers_.end(), earlier);
  }

  std::vector<Customer> customers_;
  std::array<SimTime, kRound> work_;
  std::array<SimTime, kRound> away_;
  std::array<std::uint64_t, kRound> bytes_{};
  SimTime free_;
  std::uint64_t sent_ = 0;
  std::uint16_t served_ = 65'500;  // the counter wraps
};

TEST_CASE("what_moves_by_some_periods_is_where_its_steps_lead") {
  std::mt19937 random(11);
  unsigned came_round = 0;
  std::uint64_t checked = 0;
  const auto toys = static_cast<unsigned>(rounds(400));
  for (unsigned i = 0; i < toys; ++i) {
    Toy toy(random);
    const std::uint64_t limit = random() % 3 == 0 ? kNone : 100 + random() % 400;
    std::vector<StateWalk::Record> records;
    while (records.size() < 200) {
      StateWalk::Record& now = records.emplace_back();
      StateWalk recorder(toy.next(), now);
      toy.walk(recorder, limit);
      std::size_t back = 1;
      const auto then = [&]() -> const StateWalk::Record& { return records[records.size() - 1 - back]; };
      while (back < records.size() && (then().now == now.now || then().words != now.words)) ++back;
      if (back == records.size()) {
        (void)toy.step();
        continue;
      }
      ++came_round;
      const std::uint64_t most = StateWalk::most_periods(then(), now, recorder.limits());
      const std::uint64_t periods = std::min<std::uint64_t>(most, random() % 50);
      Toy stepped = toy;
      for (std::uint64_t steps = 0; steps < back * periods; ++steps) (void)stepped.step();
      if (most != kNone) {
        Toy further = toy;
        for (std::uint64_t steps = 0; steps < back * most; ++steps) (void)further.step();
        CHECK((most == 0 || further.sent() <= limit));
        for (std::size_t steps = 0; steps < back; ++steps) (void)further.step();
        CHECK(further.sent() > limit);
      }
      StateWalk mover(then(), now, periods);
      toy.walk(mover, limit);
      CHECK(toy.is_as(stepped));
      for (int steps = 0; steps < 50; ++steps) CHECK(toy.step() == stepped.step());
      checked += periods;
      break;
    }
  }
  CHECK(came_round > toys / 2);
  CHECK(checked > toys);
}

// ---- posted entries

using Window = WindowQueue::Window;
using Sift = WindowQueue::Sift;

// Return the entries of the window, in the order of their numbers.
std::vector<std::uint64_t> taken(WindowQueue& queue, Window window) {
  std::vector<std::uint64_t> all;
  const PostedList list = queue.take(window);
  list.each_chunk([&all](const Posted* entries, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) all.push_back(entries[i].place);
  });
  CHECK(all.size() == list.size());
  queue.give(list);
  std::sort(all.begin(), all.end());
  return all;
}

// Return the remaining entries, window by window.
std::vector<std::pair<Window, std::uint64_t>> emptied(WindowQueue& queue) {
  std::vector<std::pair<Window, std::uint64_t>> all;
  for (Window window = queue.next(); window != WindowQueue::kNone; window = queue.next()) {
    const std::vector<std::uint64_t> places = taken(queue, window);
    CHECK_FALSE(places.empty());
    for (const std::uint64_t place : places) all.emplace_back(window, place);
  }
  return all;
}

using Left = std::vector<std::pair<Window, std::uint64_t>>;

TEST_CASE("what_is_posted_is_shown_in_the_order_of_near_windows_and_taken_out") {
  WindowQueue queue;
  const Left posted{{7, 0}, {2, 1}, {7, 2}, {5'000, 3}, {1'023, 4}, {1'024, 5}, {90'000, 6}};
  for (const auto& [window, number] : posted) queue.post(window, {number, nullptr});
  queue.post_next(8, nullptr, Express::kNone);
  std::vector<std::uint64_t> shown;
  queue.sift([&](Window window, const Posted& entry) {
    shown.push_back(entry.place);
    CHECK((entry.place == 8 ? window == 1 : window == posted[entry.place].first));
    return entry.place % 3 == 2 ? Sift::take : Sift::keep;
  });
  REQUIRE(shown.size() == 8);
  CHECK(std::vector(shown.begin(), shown.begin() + 5) == std::vector<std::uint64_t>{8, 1, 0, 2, 4});
  CHECK(queue.next() == 2);  // the next window's only entry is gone
  shown.clear();
  queue.sift([&](Window, const Posted& entry) {
    shown.push_back(entry.place);
    return entry.place == 0 ? Sift::stop : Sift::keep;
  });
  CHECK(shown == std::vector<std::uint64_t>{1, 0});
  queue.post_next(9, nullptr, Express::kNone);
  CHECK(emptied(queue) == Left{{1, 9}, {2, 1}, {7, 0}, {1'023, 4}, {5'000, 3}, {90'000, 6}});
}

TEST_CASE("what_is_sifted_at_random_leaves_what_a_list_has_left") {
  std::mt19937_64 random(5);
  WindowQueue queue;
  std::set<std::pair<Window, std::uint64_t>> model;
  Window now = 0;
  std::uint64_t next = 0;
  unsigned stopped_far = 0;
  const std::uint64_t steps = rounds(4'000);
  for (std::uint64_t step = 0; step < steps; ++step) {
    // Now and then post many, which take several chunks.
    const std::uint64_t most = random() % 64 == 0 ? 500 : 8;
    for (std::uint64_t posts = random() % most; posts != 0; --posts) {
      if (random() % 4 == 0) {
        queue.post_next(next, nullptr, Express::kNone);
        model.emplace(now + 1, next++);
        continue;
      }
      // Post near, far, and at the edge of the ring between them.
      const std::uint64_t ahead =
          random() % 3 == 0 ? random() % 20'000 : (random() % 2 == 0 ? random() % 8 : 1'020 + random() % 8);
      const Window window = now + static_cast<Window>(ahead);
      queue.post(window, {next, nullptr});
      model.emplace(window, next++);
    }
    if (random() % 2 == 0) {
      const std::uint64_t of_taken = random() % 5;  // share of taken entries: from none to all
      const std::uint64_t stops_at = random() % 2 == 0 ? random() % (model.size() + 1) : model.size();
      std::set<std::pair<Window, std::uint64_t>> shown;
      std::set<std::pair<Window, std::uint64_t>> left = model;
      Window last = now;
      bool ordered = true;
      queue.sift([&](Window window, const Posted& entry) {
        CHECK(shown.size() <= stops_at);
        ordered &= shown.emplace(window, entry.place).second && std::min(window, now + 1'024) >= last;
        last = std::min(window, now + 1'024);
        if (shown.size() == stops_at + 1) {
          stopped_far += window >= now + 1'024;
          return Sift::stop;
        }
        if (random() % 4 >= of_taken) return Sift::keep;
        left.erase({window, entry.place});
        return Sift::take;
      });
      CHECK(ordered);
      CHECK(shown.size() == std::min<std::size_t>(model.size(), stops_at + 1));
      CHECK(std::ranges::includes(model, shown));
      model = left;
    }
    const Window first = model.empty() ? WindowQueue::kNone : model.begin()->first;
    CHECK(queue.next() == first);
    if (model.empty() || random() % 4 == 0) continue;
    now = first;
    Left departures;
    for (const std::uint64_t place : taken(queue, now)) departures.emplace_back(now, place);
    const auto end = model.lower_bound({now + 1, 0});
    CHECK(departures == Left(model.begin(), end));
    model.erase(model.begin(), end);
  }
  CHECK(stopped_far > steps / 100);
  CHECK(emptied(queue) == Left(model.begin(), model.end()));
}

}  // namespace
}  // namespace gasmeter::sim::steady_test
