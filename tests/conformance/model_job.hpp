// Ranks in virtual time over the toy network, with faults if wanted.
#pragma once

#include <algorithm>
#include <exception>
#include <memory>

#include "gasmeter/conduit/fault_injection.hpp"
#include "gasmeter/networks/ideal/ideal_conduit.hpp"
#include "gasmeter/sim/engine.hpp"
#include "gasmeter/sim/model_host.hpp"
#include "job.hpp"
#include "support/shared_block.hpp"

namespace gasmeter::conformance {

struct ModelSetup {
  unsigned ranks = 2;
  unsigned nodes = 2;
  bool neighbourhood = false;
  bool strict = false;
  conduit::FaultPlan plan = conduit::FaultPlan::none();
};

class ModelJob final : public Job<sim::ModelHost> {
 public:
  explicit ModelJob(const ModelSetup& setup) : setup_(setup) {}

  Outcome run(const Case<sim::ModelHost>& test) override {
    Findings findings;
    Outcome outcome;
    {
      State state(setup_, test);
      try {
        state.run(test, findings, outcome);
      } catch (const std::exception& error) {
        findings.add(std::string("a rank left the case with: ") + error.what());
      }
    }
    outcome.failures = findings.take();
    return outcome;
  }

 private:
  using Endpoint = core::Endpoint<sim::ModelHost>;

  class State {
   public:
    State(const ModelSetup& setup, const Case<sim::ModelHost>& test) : engine_(options(setup)), network_(engine_) {
      std::vector<core::JobView> views;
      for (unsigned rank = 0; rank < setup.ranks; ++rank) {
        const sim::RankRange node = engine_.ranks_of(engine_.node_of(Rank{rank}));
        const unsigned first = setup.neighbourhood ? node.first : rank;
        const core::NeighbourhoodLayout layout{
            setup.neighbourhood ? node.count : 1, test.shape.ring_bytes,
            core::ring::round_up(test.shape.segment_bytes, core::NeighbourhoodLayout::kPage)};
        if (rank == first) {
          blocks_.push_back(std::make_unique<testing::SharedBlock>(layout.total()));
          block_ = blocks_.back()->map();
        }
        segments_.push_back({block_ + layout.segment_at(rank - first), layout.segment_bytes});
        views.push_back({Rank{rank}, setup.ranks, Rank{first}, layout, block_, {}});
      }
      for (core::JobView& view : views) {
        view.segments = segments_;
        const sim::ModelHost host = engine_.host(view.rank);
        conduits_.push_back(std::make_unique<networks::ideal::IdealConduit>(network_, host, view.rank));
        faults_.push_back(std::make_unique<conduit::FaultInjectingConduit>(*conduits_.back(), setup.plan));
        endpoints_.push_back(std::make_unique<Endpoint>(host, view, faults_.back().get()));
      }
    }
    State(const State&) = delete;
    State& operator=(const State&) = delete;
    ~State() { engine_.cancel(); }

    void run(const Case<sim::ModelHost>& test, Findings& findings, Outcome& outcome) {
      std::vector<std::unique_ptr<Member<sim::ModelHost>>> members;
      for (const auto& endpoint : endpoints_) {
        members.push_back(std::make_unique<Member<sim::ModelHost>>(*endpoint, findings, board_));
        engine_.start(endpoint->rank(), [&test, member = members.back().get()] { test.body(*member); });
      }
      try {
        engine_.run();
      } catch (...) {
        engine_.cancel();  // while the members still exist
        throw;
      }
      for (std::size_t rank = 0; rank < endpoints_.size(); ++rank) {
        expect_nothing_left(*endpoints_[rank], findings);
        const conduit::FaultCounters& counters = faults_[rank]->counters();
        if (counters.outstanding() != 0) {
          findings.add("rank " + std::to_string(rank) + ": " + std::to_string(counters.outstanding()) +
                       " prepared messages were neither sent nor given back");
        }
        outcome.acquisitions = std::max(outcome.acquisitions, counters.acquisitions);
        outcome.injected += counters.injected;
        outcome.clocks_ps.push_back(engine_.host(endpoints_[rank]->rank()).now().ps);
        outcome.traces.push_back(members[rank]->trace());
      }
    }

   private:
    static sim::EngineOptions options(const ModelSetup& setup) {
      sim::EngineOptions result;
      result.ranks = setup.ranks;
      result.nodes = setup.nodes;
      result.prices = networks::ideal::ideal_prices();
      result.strict = setup.strict;
      return result;
    }

    sim::Engine engine_;
    networks::ideal::IdealNetwork network_;
    std::vector<std::unique_ptr<testing::SharedBlock>> blocks_;
    std::byte* block_ = nullptr;  // of the node that is being set up
    std::vector<core::Segment> segments_;
    std::vector<std::unique_ptr<networks::ideal::IdealConduit>> conduits_;
    std::vector<std::unique_ptr<conduit::FaultInjectingConduit>> faults_;
    std::vector<std::unique_ptr<Endpoint>> endpoints_;
    Board board_{};
  };

  ModelSetup setup_;
};

}  // namespace gasmeter::conformance
