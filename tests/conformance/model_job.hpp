// Ranks in virtual time, with faults if wanted.
#pragma once

#include <algorithm>
#include <exception>
#include <memory>

#include "gasmeter/conduit/fault_injection.hpp"
#include "job.hpp"
#include "support/model_world.hpp"

namespace gasmeter::conformance {

struct ModelSetup {
  unsigned ranks = 2;
  unsigned nodes = 2;
  bool neighbourhood = false;
  bool strict = false;
  conduit::FaultPlan plan = conduit::FaultPlan::none();
};

template <class World>
class ModelJobIn final : public Job<sim::ModelHost> {
 public:
  explicit ModelJobIn(const ModelSetup& setup) : setup_(setup) {}

  Outcome run(const Case<sim::ModelHost>& test) override {
    std::vector<conduit::FaultInjectingConduit*> faults;
    World world({setup_.ranks, setup_.nodes, setup_.neighbourhood, setup_.strict, test.shape.segment_bytes,
                 test.shape.ring_bytes},
                [&](conduit::Conduit& inner) {
                  auto wrapped = std::make_unique<conduit::FaultInjectingConduit>(inner, setup_.plan);
                  faults.push_back(wrapped.get());
                  return wrapped;
                });
    Findings findings;
    Board board{};
    Outcome outcome;
    outcome.clocks_ps.resize(setup_.ranks);
    outcome.traces.resize(setup_.ranks);
    try {
      world.run([&](core::Endpoint<sim::ModelHost>& endpoint) {
        Member<sim::ModelHost> member(endpoint, findings, board);
        if constexpr (requires { world.installation().serve(Rank{}); }) {
          member.meanwhile = [&world, rank = endpoint.rank()] { world.installation().serve(rank); };
        }
        test.body(member);
        outcome.clocks_ps[member.self()] = endpoint.host().now().ps;
        outcome.traces[member.self()] = member.trace();
      });
      for (std::uint32_t rank = 0; rank < setup_.ranks; ++rank) {
        expect_nothing_left(world.endpoint(rank), findings);
        expect_balance(rank, faults[rank]->counters(), findings, outcome);
      }
    } catch (const std::exception& error) {
      findings.add(std::string("a rank left the case with: ") + error.what());
    }
    outcome.failures = findings.take();
    return outcome;
  }

 private:
  static void expect_balance(std::uint32_t rank, const conduit::FaultCounters& counters, Findings& findings,
                             Outcome& outcome) {
    if (counters.outstanding() != 0) {
      findings.add("rank " + std::to_string(rank) + ": " + std::to_string(counters.outstanding()) +
                   " prepared messages were neither sent nor given back");
    }
    outcome.acquisitions = std::max(outcome.acquisitions, counters.acquisitions);
    outcome.injected += counters.injected;
  }

  ModelSetup setup_;
};

using ModelJob = ModelJobIn<testing::ModelWorld>;

}  // namespace gasmeter::conformance
