// Random events compared with one plain heap: windows, lists, sorting by buckets and small heaps keep the order of
// instants and ties.
#include <doctest/doctest.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <queue>
#include <vector>

#include "gasmeter/base/platform.hpp"
#include "gasmeter/sim/engine/engine.hpp"
#include "gasmeter/sim/engine/model_host.hpp"
#include "prices.hpp"
#include "support/effort.hpp"

namespace gasmeter::sim::event_order_test {
namespace {

using testing::options_for;

constexpr SimTime kLookahead{3'000};
constexpr unsigned kFirst = 20;  // events of each node, at one instant

// The events that an event posts depend on all that has happened on its node before.
struct Plan {
  std::uint32_t nodes;
  std::uint64_t events;  // events of each node that post others; later ones post nothing
  bool in_step;          // few instants, many ties

  struct Next {
    std::uint32_t to;
    std::int64_t after;  // ps
  };
  // Return at most two events, a little more than one on average.
  [[nodiscard]] std::vector<Next> next(std::uint32_t node, std::uint64_t hash, std::uint64_t happened) const {
    std::vector<Next> all;
    if (happened >= events) return all;
    const std::uint64_t step = in_step ? 500 : 1;
    for (unsigned i = 0; i < 2; ++i) {
      hash = mix(hash);
      if (hash % 16 < 7) continue;
      const bool stays = hash / 16 % 2 == 0;
      const auto to = stays ? node : static_cast<std::uint32_t>(hash / 32 % nodes);
      // Some events come at once, most within a few windows, some far beyond the ring of windows.
      const std::uint64_t wide = hash / 4096 % 16 == 0 ? 40'000'000 : hash / 4096 % 4 == 0 ? 100 : 9'000;
      const std::uint64_t after = hash / 65536 % wide / step * step;
      all.push_back({to, static_cast<std::int64_t>(after) + (to == node ? 0 : kLookahead.ps)});
    }
    return all;
  }
  [[nodiscard]] static std::uint64_t mix(std::uint64_t word) {
    word = (word ^ (word >> 31U)) * 0x9e3779b97f4a7c15U;
    return word ^ (word >> 29U);
  }
};

struct Seen {
  std::uint64_t hash = 0;
  std::uint64_t happened = 0;
  bool operator==(const Seen&) const = default;

  // `name`: name of the event, the same wherever it is computed.
  void add(std::int64_t at, std::uint64_t name) {
    hash = Plan::mix(hash ^ Plan::mix(static_cast<std::uint64_t>(at)) ^ name);
    ++happened;
  }
};

// Name an event by its poster and the order of posting.
std::uint64_t name_of(std::uint32_t poster, std::uint64_t number) {
  return (std::uint64_t{poster} << 40U) | number;
}

std::vector<Seen> in_a_heap(const Plan& plan) {
  struct Entry {
    std::int64_t at;
    std::uint64_t name;  // orders ties by poster, then by posting
    std::uint32_t node;
    bool operator>(const Entry& other) const {
      if (at != other.at) return at > other.at;
      return node != other.node ? node > other.node : name > other.name;
    }
  };
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> heap;
  std::vector<Seen> seen(plan.nodes);
  std::vector<std::uint64_t> posted(plan.nodes);
  for (std::uint32_t node = 0; node < plan.nodes; ++node) {
    for (unsigned i = 0; i < kFirst; ++i) heap.push({1'000, name_of(node, posted[node]++), node});
  }
  while (!heap.empty()) {
    const Entry entry = heap.top();
    heap.pop();
    Seen& state = seen[entry.node];
    state.add(entry.at, entry.name);
    for (const Plan::Next& next : plan.next(entry.node, state.hash, state.happened)) {
      heap.push({entry.at + next.after, name_of(entry.node, posted[entry.node]++), next.to});
    }
  }
  return seen;
}

class World {
 public:
  World(const Plan& plan, unsigned threads) : plan_(plan), engine_(options(plan, threads)), seen_(plan.nodes) {
    engine_.promise_lookahead(kLookahead);
    for (std::uint32_t i = 0; i < plan.nodes; ++i) nodes_.emplace_back();
  }

  std::vector<Seen> run() {
    for (std::uint32_t rank = 0; rank < plan_.nodes; ++rank) {
      engine_.start(Rank{rank}, [this, rank] {
        for (unsigned i = 0; i < kFirst; ++i) post(rank, rank, {1'000});
        engine_.host(Rank{rank}).idle({std::int64_t{1} << 60U});  // longer than any chain of events
      });
    }
    engine_.run();
    return seen_;
  }
  [[nodiscard]] std::uint64_t events() const { return engine_.counters().events; }

 private:
  struct Happening : Action {
    Happening() : Action(&World::happens) {}
    World* world = nullptr;
    std::uint64_t name = 0;
    std::uint32_t node = 0;
  };
  struct alignas(kNoSharing) Own {
    std::uint64_t posted = 0;
    std::deque<Happening> made;
    std::vector<Happening*> free;
  };

  static EngineOptions options(const Plan& plan, unsigned threads) {
    EngineOptions result = options_for(plan.nodes, plan.nodes);
    result.threads = threads;
    return result;
  }
  static void happens(Action& action, SimTime now) {
    auto& self = static_cast<Happening&>(action);
    World& world = *self.world;
    const std::uint32_t node = self.node;
    Seen& state = world.seen_[node];
    state.add(now.ps, self.name);
    world.nodes_[node].free.push_back(&self);
    for (const Plan::Next& next : world.plan_.next(node, state.hash, state.happened)) {
      world.post(node, next.to, now + SimTime{next.after});
    }
  }
  void post(std::uint32_t from, std::uint32_t to, SimTime at) {
    Own& state = nodes_[from];
    if (state.free.empty()) state.free.push_back(&state.made.emplace_back());
    Happening& next = *state.free.back();
    state.free.pop_back();
    next.world = this;
    next.name = name_of(from, state.posted++);
    next.node = to;
    engine_.post(NodeId{from}, NodeId{to}, at, next);
  }

  Plan plan_;
  Engine engine_;
  std::deque<Own> nodes_;
  std::vector<Seen> seen_;
};

TEST_CASE("random_events_happen_in_the_order_of_a_plain_heap") {
  for (const bool in_step : {false, true}) {
    for (const std::uint32_t nodes : {1U, 3U, 64U, 1000U}) {
      const Plan plan{nodes, gasmeter::testing::rounds(200'000) / nodes + 100, in_step};
      const std::vector<Seen> expected = in_a_heap(plan);
      std::uint64_t all = 0;
      for (const Seen& each : expected) all += each.happened;
      CHECK(all >= nodes * plan.events / 2);
      for (const unsigned threads : {1U, 2U, 3U}) {
        CAPTURE(in_step);
        CAPTURE(nodes);
        CAPTURE(threads);
        World world(plan, threads);
        CHECK((world.run() == expected));
        CHECK(world.events() == all);
      }
    }
  }
}

}  // namespace
}  // namespace gasmeter::sim::event_order_test
