// The life of a raw program on modelled cards: blocks on every rank, then the verification.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "gasmeter/bench/program.hpp"

namespace gasmeter::testing {

template <class Context>
struct RawTrial {
  std::unique_ptr<bench::Program> (*make)(Context, const bench::Settings&);
  std::string op;
  Bytes size = 8;
  std::uint64_t iterations = 20;
  bool seeds_differ = false;
  int blocks = 2;
  std::uint64_t seed = 5;
  std::map<std::string, std::string> options{};  // besides the defaults
};

// With this seed, for two ranks with eight words each, the first update of both belongs to rank 1.
inline constexpr std::uint64_t kOneCrosses = 3;

struct RawOutcome {
  bench::Verification found;  // over all ranks
  bench::BlockResult block;   // last block of rank 0
  std::vector<std::int64_t> clocks;
};

// `context_of(rank)`: the context of a rank's program.
template <class World, class Context, class ContextOf>
RawOutcome attempt(World& world, std::uint32_t ranks, const RawTrial<Context>& trial, ContextOf context_of) {
  std::vector<std::unique_ptr<bench::Program>> programs;
  std::vector<bench::Verification> found(ranks);
  RawOutcome outcome;
  outcome.clocks.resize(ranks);
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    bench::Settings settings;
    settings.kernel = "kernel";
    settings.op = trial.op;
    settings.size = trial.size;
    settings.ranks = ranks;
    settings.seed = trial.seed + (trial.seeds_differ ? 100 * rank : 0);
    settings.options = trial.options;
    settings.options.insert({{"local", "outside"},
                             {"offset", "0"},
                             {"sources", "1"},
                             {"answer", "same"},
                             {"pong", "reply"},
                             {"window", "0"}});
    programs.push_back(trial.make(context_of(rank), settings));
  }
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    world.engine.start(Rank{rank}, [&, rank] {
      for (int block = 0; block < trial.blocks; ++block) {
        const bench::BlockResult result = programs[rank]->run(trial.iterations);
        if (rank == 0) outcome.block = result;
      }
      found[rank] = programs[rank]->verify();
      outcome.clocks[rank] = world.host(rank).now().ps;
    });
  }
  world.engine.run();
  for (const bench::Verification& each : found) {
    outcome.found.checked += each.checked;
    outcome.found.errors += each.errors;
    outcome.found.allowed += each.allowed;
  }
  return outcome;
}

inline double metric(const RawOutcome& outcome, const std::string& name) {
  for (const auto& [metric, value] : outcome.block.metrics) {
    if (metric == name) return value;
  }
  return 0;
}

}  // namespace gasmeter::testing
