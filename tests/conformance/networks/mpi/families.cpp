// The mpi conduit over matched messages in memory, with ranks as threads, and over a real MPI, whose launcher starts
// the ranks.
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cases.hpp"
#include "gasmeter/networks/mpi/ammpi_conduit.hpp"
#include "gasmeter/networks/mpi/mpi_conduit.hpp"
#include "hosted_job.hpp"
#include "mpi_ranks.hpp"
#include "suite.hpp"
#include "support/memory_matching.hpp"

namespace gasmeter::conformance {
namespace {

using networks::TwoSidedConduit;
using networks::mpi::AmmpiConduit;
using networks::mpi::MpiConduit;
using networks::mpi::MpiSettings;

struct MpiSetup {
  std::uint32_t ranks = 2;
  std::uint32_t per_node = 1;
  testing::MatchingOptions network{};
  MpiSettings settings{};
  std::uint32_t ammpi_depth = 0;  // 0: messages are gathered
};

class MatchingRank final : public HostedRank {
 public:
  MatchingRank(const MpiSetup& setup, services::TwoSidedService& service, RealHost host, Rank rank)
      : conduit_(make(setup, service, host, rank)) {}

  conduit::Conduit& conduit() override { return *conduit_; }
  void serve() override { conduit_->serve(); }
  bool is_quiet() const override { return conduit_->is_quiet(); }

 private:
  static std::unique_ptr<TwoSidedConduit> make(const MpiSetup& setup, services::TwoSidedService& service, RealHost host,
                                               Rank rank) {
    if (setup.ammpi_depth != 0) {
      return std::make_unique<AmmpiConduit<RealHost>>(host, service, setup.ranks, setup.ammpi_depth);
    }
    return std::make_unique<MpiConduit<RealHost>>(host, service, rank, setup.ranks, setup.settings);
  }

  std::unique_ptr<TwoSidedConduit> conduit_;
};

class Matching final : public HostedNetwork {
 public:
  explicit Matching(const MpiSetup& setup) : setup_(setup), network_(setup.ranks, setup.network) {}

  std::unique_ptr<HostedRank> join(RealHost host, Rank rank, std::span<std::byte> /*segment*/) override {
    return std::make_unique<MatchingRank>(setup_, network_.port(index(rank)), host, rank);
  }

 private:
  MpiSetup setup_;
  testing::MemoryMatching network_;
};

using Setups = std::vector<std::pair<std::string, MpiSetup>>;

Runs runs_of(const Setups& setups) {
  Runs runs;
  for (const auto& [name, setup] : setups) {
    if (!testing::kSanitizer.empty() && setup.ranks != 2) continue;
    const auto make = [setup = setup] { return std::make_unique<Matching>(setup); };
    add_runs(runs, name, std::make_shared<HostedJob>(setup.ranks, make, setup.per_node), all_cases<RealHost>());
  }
  return runs;
}

// Small windows and few numbers, so that all resources run out; eager limits below and above the messages' sizes.
Runs in_memory() {
  MpiSettings scarce;
  scarce.max_medium = 4096;
  scarce.apart_from = 512;
  scarce.least_gathered = 256;
  scarce.most_gathered = 1024;
  scarce.window = 2;
  scarce.receives = 2;
  scarce.most_apart = 1;
  scarce.most_gets = 1;
  const Setups setups = {
      {"2 ranks", {.ranks = 2}},
      {"2 ranks with neighbourhood", {.ranks = 2, .per_node = 2}},
      {"4 ranks on 2 nodes with neighbourhood", {.ranks = 4, .per_node = 2}},
      {"3 ranks, sends refused", {.ranks = 3, .network = {.refuse = 0.3, .eager_is_done = false}}},
      {"2 ranks, everything scarce", {.ranks = 2, .network = {.eager = 64, .most_sends = 32}, .settings = scarce}},
      {"4 ranks, everything scarce",
       {.ranks = 4, .network = {.eager = 512, .refuse = 0.1, .eager_is_done = false}, .settings = scarce}},
  };
  return runs_of(setups);
}

// The classic scheme: with its original depth, and with four requests to a peer and two buffers of each kind and size.
Runs ammpi_in_memory() {
  return runs_of({
      {"2 ranks", {.ranks = 2, .ammpi_depth = networks::mpi::ammpi::kDepth}},
      {"4 ranks on 2 nodes with neighbourhood",
       {.ranks = 4, .per_node = 2, .ammpi_depth = networks::mpi::ammpi::kDepth}},
      {"2 ranks, depth 2", {.ranks = 2, .network = {.eager = 64, .most_sends = 8}, .ammpi_depth = 2}},
      // Enough tokens for some to be left whenever an empty reply is late.
      {"3 ranks, depth 16, sends refused",
       {.ranks = 3, .network = {.eager = 512, .refuse = 0.1, .eager_is_done = false}, .ammpi_depth = 16}},
  });
}

}  // namespace

void register_mpi(Suite& suite) {
  suite.add({.name = "mpi-memory", .conduit = "mpi", .all_runs = &in_memory});
  suite.add({.name = "ammpi-memory", .conduit = "mpi", .all_runs = &ammpi_in_memory});
  suite.add(Launched{.network = "mpi", .conduit = "mpi", .run = &run_over_mpi});
}

}  // namespace gasmeter::conformance
