// Lazy and strict synchronisation give the same bytes and the same picoseconds.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "gasmeter/sim/engine/engine.hpp"
#include "gasmeter/sim/engine/model_host.hpp"
#include "prices.hpp"

namespace gasmeter::sim::lazy_strict_test {
namespace {

using conduit::PrivatePrice;
using conduit::SharedPrice;
using testing::options_for;

struct Outcome {
  std::vector<std::int64_t> clocks;                  // by rank, at its end, ps
  std::vector<std::uint64_t> hashes;                 // by rank: hash of everything it saw
  std::vector<std::array<std::uint64_t, 3>> memory;  // by node
  std::vector<std::uint64_t> device;                 // by node
  bool operator==(const Outcome&) const = default;
};

constexpr SimTime kLookahead{150'000};

// Adds to its node's memory and wakes the rank that it was given.
struct Meddling : Action {
  Meddling(Engine& e, Outcome& o, Rank r) : Action(&Meddling::happen), engine(e), outcome(o), rank(r) {}
  static void happen(Action& action, SimTime now) {
    const std::unique_ptr<Meddling> self(static_cast<Meddling*>(&action));
    const std::uint32_t node = index(self->engine.node_of(self->rank));
    std::uint64_t& device = self->outcome.device[node];
    device = device * 31 + static_cast<std::uint64_t>(now.ps) + index(self->rank);
    self->outcome.memory[node][index(self->rank) % 3] ^= device;
    self->engine.wake(self->rank, now + SimTime{static_cast<std::int64_t>(device % 3) * 4'000});
  }
  Engine& engine;
  Outcome& outcome;
  Rank rank;
};

// The next act of a rank depends on what it saw, so that one difference changes everything after it.
void act(Engine& engine, Outcome& outcome, std::uint32_t self, std::uint64_t random) {
  ModelHost host = engine.host(Rank{self});
  std::uint64_t& hash = outcome.hashes[self];
  const std::span<const Rank> mates = engine.ranks_of(host.node());
  const Rank mate = mates[(random >> 8) % mates.size()];
  std::uint64_t& word = outcome.memory[index(host.node())][(random >> 20) % 3];
  switch ((random ^ hash) % 10) {
    case 0:
      host.charge(PrivatePrice::call);
      host.charge(PrivatePrice::update);
      break;
    case 1:
      host.charge(PrivatePrice::dispatch);
      break;
    case 2:
      host.charge_shared(SharedPrice::line_store);
      word = word * 31 + hash + self;
      host.notify(mate);
      host.charge(PrivatePrice::call);
      break;
    case 3:
      host.charge_shared(SharedPrice::line_transfer);
      hash = hash * 31 + word;
      break;
    case 4:
      host.charge(PrivatePrice::call);
      host.synchronise();
      host.copy(&word, &hash, sizeof word);
      host.charge(PrivatePrice::call);
      host.notify(mate);
      break;
    case 5:
      host.synchronise();
      hash = hash * 31 + word;
      for (int n = 0; n < 3; ++n) host.charge(PrivatePrice::dispatch);
      host.idle(host.now() + SimTime{static_cast<std::int64_t>(random % 90'000)});
      break;
    case 6:
      engine.post(host.node(), host.node(), host.now() + SimTime{static_cast<std::int64_t>(random % 5) * 1'000},
                  *std::make_unique<Meddling>(engine, outcome, mate).release());
      break;
    case 7: {
      const Rank peer{static_cast<std::uint32_t>((random >> 8) % engine.ranks())};
      engine.post(host.node(), engine.node_of(peer),
                  host.now() + kLookahead + SimTime{static_cast<std::int64_t>(random % 50) * 10'000},
                  *std::make_unique<Meddling>(engine, outcome, peer).release());
      break;
    }
    case 8:  // up to three events at one instant
      host.pay(SharedPrice::line_store);
      for (std::uint64_t left = random % 3 + 1; left != 0; --left) {
        host.act(*std::make_unique<Meddling>(engine, outcome, left == 2 ? Rank{self} : mate).release());
      }
      host.charge(PrivatePrice::call);
      break;
    default:
      for (int polls = 0; polls < 3; ++polls) {
        host.synchronise();
        hash = hash * 31 + word + static_cast<std::uint64_t>(host.now().ps);
        host.charge(PrivatePrice::poll_miss);
      }
  }
}

Outcome play(unsigned ranks, unsigned nodes, std::uint64_t seed, bool strict, unsigned threads = 1, int blocks = 3) {
  Outcome outcome{std::vector<std::int64_t>(ranks), std::vector<std::uint64_t>(ranks, 1),
                  std::vector<std::array<std::uint64_t, 3>>(nodes, {1, 2, 3}), std::vector<std::uint64_t>(nodes)};
  EngineOptions options = options_for(ranks, nodes, strict);
  options.threads = threads;
  Engine engine(options);
  engine.promise_lookahead(kLookahead);
  for (std::uint32_t self = 0; self < ranks; ++self) {
    engine.start(Rank{self}, [&, self] {
      std::mt19937_64 random(seed * 1'000 + self);
      for (int block = 0; block < blocks; ++block) {
        for (int step = 0; step < 60; ++step) act(engine, outcome, self, random());
        engine.park(Rank{self});
      }
      outcome.clocks[self] = engine.host(Rank{self}).now().ps;
      // Wait until all events from others have happened: each deletes itself then.
      while (engine.host(Rank{self}).now() < SimTime{1'000'000'000}) engine.host(Rank{self}).idle({1'000'000'000});
    });
  }
  for (int block = 0; block <= blocks; ++block) engine.run();
  return outcome;
}

TEST_CASE("random_programs_give_the_same_lazily_and_strictly") {
  const unsigned seeds = Fibre::default_stack_bytes() > 64 * 1024 ? 10 : 100;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    for (const auto& job : {std::pair{2U, 1U}, std::pair{4U, 2U}, std::pair{9U, 2U}}) {
      const unsigned ranks = job.first;  // no structured binding: CAPTURE makes a lambda of it
      const unsigned nodes = job.second;
      const Outcome lazy = play(ranks, nodes, seed, false);
      CAPTURE(nodes);
      CAPTURE(seed);
      CAPTURE(ranks);
      CHECK((lazy == play(ranks, nodes, seed, true)));
      CHECK((lazy == play(ranks, nodes, seed, false)));
    }
  }
}

TEST_CASE("random_programs_give_the_same_on_any_number_of_threads") {
  const unsigned seeds = Fibre::default_stack_bytes() > 64 * 1024 ? 2 : 10;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    for (const auto& [ranks, nodes] : {std::pair{2U, 2U}, std::pair{16U, 16U}, std::pair{600U, 300U}}) {
      const Outcome one = play(ranks, nodes, seed, false);
      for (const unsigned threads : {2U, 3U, 4U}) CHECK((one == play(ranks, nodes, seed, seed % 2 == 0, threads)));
    }
  }
}

// Calls cost 1 ns. Rank 1 acts at 1 ns and runs on to 9 ns; rank 0 acts at 3 ns and, twice, at 5 ns. A timer of the
// node goes off at 5 ns.
TEST_CASE("ranks_act_at_their_clocks_behind_the_events_of_the_instant") {
  for (const bool strict : {false, true}) {
    Engine engine(options_for(2, 1, strict));
    std::vector<std::string> order;
    struct Named : Action {
      Named(std::vector<std::string>& to, const char* as)
          : Action([](Action& self, SimTime now) {
              auto& named = static_cast<Named&>(self);
              named.into.push_back(named.name + std::to_string(now.ps / 1'000));
            }),
            into(to),
            name(as) {}
      std::vector<std::string>& into;
      std::string name;
    };
    Named timer(order, "timer ");
    Named early(order, "1 at ");
    Named first(order, "0 at ");
    Named second(order, "0 again at ");
    Named third(order, "0 once more at ");
    const auto call = [&engine](std::uint32_t rank, int times) {
      for (int n = 0; n < times; ++n) engine.host(Rank{rank}).charge(PrivatePrice::call);
    };
    engine.start(Rank{0}, [&] {
      engine.post(NodeId{0}, NodeId{0}, {5'000}, timer);
      call(0, 3);
      engine.host(Rank{0}).act(first);
      call(0, 2);
      engine.host(Rank{0}).act(second);
      engine.host(Rank{0}).act(third);
      call(0, 5);
    });
    engine.start(Rank{1}, [&] {
      call(1, 1);
      engine.host(Rank{1}).act(early);
      call(1, 8);
    });
    engine.run();
    CHECK(order == std::vector<std::string>{"1 at 1", "0 at 3", "timer 5", "0 again at 5", "0 once more at 5"});
    CHECK(engine.counters().events == 1);
    if (!strict) CHECK(engine.counters().switches <= 4);  // one to start, one to end
  }
}

TEST_CASE("random_programs_differ_by_seed") {
  CHECK_FALSE((play(4, 2, 1, false) == play(4, 2, 2, false)));
}

// Mail that comes to a rank, and room for answers. A poll locks the box once for all mail that it takes. Handling a
// piece of mail waits for room, and meanwhile takes arrivals and puts them aside. If the last of these polls found
// nothing, the outer poll must lock again. Asking for room takes time, too.
class Mailbox {
 public:
  Mailbox(Engine& engine, std::uint32_t rank, std::uint64_t seed, bool tells)
      : host_(engine.host(Rank{rank})), random_(seed), tells_(tells) {}

  void live() {
    for (std::uint32_t left = kMail; left != 0; --left) {
      post(there_);
      post(room_);
    }
    while (handled_ < kMail) {
      host_.charge(PrivatePrice::call);
      bool polls_again = false;
      do {
        if (!polls_in_vain() && poll() != 0) break;
        polls_again = host_.idle(kNever, {});
      } while (polls_again);
    }
  }
  [[nodiscard]] SimTime end() const { return host_.now(); }

 private:
  static constexpr std::uint32_t kMail = 40;

  struct Arrival : Action {
    Arrival(Mailbox& box, std::uint32_t& of) : Action(&Arrival::happen), host(box.host_), count(of) {}
    static void happen(Action& action, SimTime now) {
      const std::unique_ptr<Arrival> self(static_cast<Arrival*>(&action));
      ++self->count;
      self->host.engine().wake(self->host.rank(), now);
    }
    ModelHost host;
    std::uint32_t& count;
  };

  void post(std::uint32_t& count) {
    const SimTime at = host_.now() + SimTime{static_cast<std::int64_t>(random_() % 600) * 1'000};
    host_.engine().post(host_.node(), host_.node(), at, *std::make_unique<Arrival>(*this, count).release());
  }
  // Whatever is there now is also there at the clock.
  bool has(const std::uint32_t& count) {
    if (count == 0) host_.synchronise();
    return count != 0;
  }
  bool polls_in_vain() {
    if (there_ != 0 || put_by_ != 0 || !host_.runs_ahead()) return false;
    is_locked_ = false;
    if (tells_) host_.leave_poll_out();
    return true;
  }
  void take() {
    --there_;
    if (!is_locked_) host_.charge(PrivatePrice::header_build);
    is_locked_ = true;
  }
  unsigned poll() {
    host_.synchronise();
    is_locked_ = false;
    unsigned taken = 0;
    for (; put_by_ != 0 || has(there_); ++taken) {
      if (put_by_ != 0) {
        --put_by_;
      } else {
        take();
      }
      handle();
    }
    return taken;
  }
  void handle() {
    ++handled_;
    for (auto works = random_() % 4; works != 0; --works) host_.charge(PrivatePrice::dispatch);
    for (; !has(room_); (void)host_.idle(kNever, {})) {
      host_.charge(PrivatePrice::call);
      host_.synchronise();
      is_locked_ = false;
      for (; has(there_); ++put_by_) take();
    }
    --room_;
  }

  ModelHost host_;
  std::mt19937_64 random_;
  bool tells_;  // whether it tells the host of the poll it leaves out
  std::uint32_t there_ = 0;
  std::uint32_t room_ = 0;
  std::uint32_t put_by_ = 0;
  std::uint32_t handled_ = 0;
  bool is_locked_ = false;
};

// Count jobs of two ranks of a node whose ends differ between lazy and strict.
unsigned jobs_that_differ(unsigned jobs, bool tells) {
  const auto ends = [tells](std::uint64_t seed, bool strict) {
    Engine engine(options_for(2, 1, strict));
    std::array<Mailbox, 2> boxes = {Mailbox(engine, 0, 2 * seed, tells), Mailbox(engine, 1, 2 * seed + 1, tells)};
    for (std::uint32_t rank = 0; rank < 2; ++rank) engine.start(Rank{rank}, [&boxes, rank] { boxes[rank].live(); });
    engine.run();
    return std::pair{boxes[0].end(), boxes[1].end()};
  };
  unsigned differ = 0;
  for (std::uint64_t seed = 0; seed < jobs; ++seed) differ += ends(seed, false) == ends(seed, true) ? 0U : 1U;
  return differ;
}

TEST_CASE("a_poll_that_is_left_out_leaves_the_wake_that_it_would_have_left") {
  const unsigned jobs = Fibre::default_stack_bytes() > 64 * 1024 ? 20 : 200;
  CHECK(jobs_that_differ(jobs, true) == 0);
  CHECK(jobs_that_differ(jobs, false) > 0);
}

// The oracle must detect its error: a load without synchronise() reads the past lazily and the present strictly.
TEST_CASE("missing_synchronise_shows_as_a_difference") {
  const auto load = [](bool strict) {
    Engine engine(options_for(2, 1, strict));
    int word = 0;
    int seen = -1;
    engine.start(Rank{0}, [&] {
      ModelHost host = engine.host(Rank{0});
      for (int n = 0; n < 9; ++n) host.charge(PrivatePrice::call);
      seen = word;  // wrong on purpose: rank 1 stores earlier
    });
    engine.start(Rank{1}, [&] {
      ModelHost host = engine.host(Rank{1});
      host.charge(PrivatePrice::call);
      host.synchronise();
      word = 1;
    });
    engine.run();
    return seen;
  };
  CHECK(load(false) == 0);
  CHECK(load(true) == 1);
}

}  // namespace
}  // namespace gasmeter::sim::lazy_strict_test
