// Lazy and strict synchronisation give the same bytes and the same picoseconds.
#include <doctest/doctest.h>

#include <cstdint>
#include <random>
#include <vector>

#include "gasmeter/sim/engine.hpp"
#include "gasmeter/sim/model_host.hpp"
#include "prices.hpp"

namespace gasmeter::sim {
namespace {

using conduit::PrivatePrice;
using conduit::SharedPrice;
using testing::options_for;

struct Outcome {
  std::vector<std::int64_t> clocks;   // of each rank at its end, ps
  std::vector<std::uint64_t> hashes;  // of everything each rank saw
  std::vector<std::uint64_t> memory;
  std::uint64_t device = 0;
  bool operator==(const Outcome&) const = default;
};

// Adds to shared memory and wakes whom it was told to.
class Meddler final : public Device {
 public:
  Meddler(Engine& engine, Outcome& outcome) : engine_(engine), outcome_(outcome) {}
  void fire(SimTime now, void* subject) override {
    const auto rank = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(subject));
    outcome_.device = outcome_.device * 31 + static_cast<std::uint64_t>(now.ps) + rank;
    outcome_.memory[rank % outcome_.memory.size()] ^= outcome_.device;
    engine_.wake(Rank{rank}, now + SimTime{static_cast<std::int64_t>(outcome_.device % 3) * 4'000});
  }

 private:
  Engine& engine_;
  Outcome& outcome_;
};

// What a rank does next depends on what it saw, so that one difference changes everything after it.
void act(Engine& engine, Outcome& outcome, Meddler& meddler, std::uint32_t self, std::uint64_t random) {
  ModelHost host = engine.host(Rank{self});
  std::uint64_t& hash = outcome.hashes[self];
  const RankRange mates = engine.ranks_of(engine.node_of(Rank{self}));
  const std::uint32_t mate = mates.first + static_cast<std::uint32_t>((random >> 8) % mates.count);
  std::uint64_t& word = outcome.memory[(random >> 20) % outcome.memory.size()];
  switch ((random ^ hash) % 8) {
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
      host.notify(Rank{mate});
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
      host.notify(Rank{mate});
      break;
    case 5:
      host.synchronise();
      hash = hash * 31 + word;
      for (int n = 0; n < 3; ++n) host.charge(PrivatePrice::dispatch);
      host.idle(host.now() + SimTime{static_cast<std::int64_t>(random % 90'000)});
      break;
    case 6:
      engine.post(host.now() + SimTime{static_cast<std::int64_t>(random % 5) * 1'000},
                  {&meddler, reinterpret_cast<void*>(static_cast<std::uintptr_t>(mate))});
      break;
    default:
      for (int polls = 0; polls < 3; ++polls) {
        host.synchronise();
        hash = hash * 31 + word + static_cast<std::uint64_t>(host.now().ps);
        host.charge(PrivatePrice::poll_miss);
      }
  }
}

Outcome play(unsigned ranks, unsigned nodes, std::uint64_t seed, bool strict) {
  Outcome outcome{std::vector<std::int64_t>(ranks), std::vector<std::uint64_t>(ranks, 1), {1, 2, 3}, 0};
  Engine engine(options_for(ranks, nodes, strict));
  Meddler meddler(engine, outcome);
  for (std::uint32_t self = 0; self < ranks; ++self) {
    engine.start(Rank{self}, [&, self] {
      std::mt19937_64 random(seed * 1'000 + self);
      for (int block = 0; block < 3; ++block) {
        for (int step = 0; step < 60; ++step) act(engine, outcome, meddler, self, random());
        engine.park(Rank{self});
      }
      outcome.clocks[self] = engine.host(Rank{self}).now().ps;
    });
  }
  for (int block = 0; block < 4; ++block) engine.run();
  return outcome;
}

TEST_CASE("random_programs_give_the_same_lazily_and_strictly") {
  const unsigned seeds = Fibre::default_stack_bytes() > 64 * 1024 ? 10 : 100;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    for (const auto& [ranks, nodes] : {std::pair{2U, 1U}, std::pair{4U, 2U}, std::pair{9U, 2U}}) {
      const Outcome lazy = play(ranks, nodes, seed, false);
      CHECK((lazy == play(ranks, nodes, seed, true)));
      CHECK((lazy == play(ranks, nodes, seed, false)));
    }
  }
}

TEST_CASE("random_programs_differ_by_seed") {
  CHECK_FALSE((play(4, 2, 1, false) == play(4, 2, 2, false)));
}

// The oracle must see what it is for: a load without synchronise() reads the past lazily and the present strictly.
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
}  // namespace gasmeter::sim
