// The mpi conduit over matched messages in memory, ranks as threads; and over a real MPI, whose launcher starts them.
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cases.hpp"
#include "gasmeter/networks/mpi/mpi_conduit.hpp"
#include "hosted_job.hpp"
#include "mpi_ranks.hpp"
#include "suite.hpp"
#include "support/memory_matching.hpp"

namespace gasmeter::conformance {
namespace {

using networks::mpi::MpiConduit;
using networks::mpi::MpiSettings;

struct MpiSetup {
  std::uint32_t ranks = 2;
  std::uint32_t per_node = 1;
  testing::MatchingOptions network{};
  MpiSettings settings{};
};

class MatchingRank final : public HostedRank {
 public:
  MatchingRank(const MpiSetup& setup, services::TwoSidedService& service, RealHost host, Rank rank)
      : conduit_(host, service, rank, setup.ranks, setup.settings) {}

  conduit::Conduit& conduit() override { return conduit_; }
  void serve() override { conduit_.serve(); }
  bool is_quiet() const override { return conduit_.is_quiet(); }

 private:
  MpiConduit<RealHost> conduit_;
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

// Small windows and few numbers, so that everything runs out; eager limits below and above what messages hold.
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
  const std::vector<std::pair<std::string, MpiSetup>> setups = {
      {"2 ranks", {.ranks = 2}},
      {"2 ranks with neighbourhood", {.ranks = 2, .per_node = 2}},
      {"4 ranks on 2 nodes with neighbourhood", {.ranks = 4, .per_node = 2}},
      {"3 ranks, sends refused", {.ranks = 3, .network = {.refuse = 0.3, .eager_is_done = false}}},
      {"2 ranks, everything scarce", {.ranks = 2, .network = {.eager = 64, .most_sends = 32}, .settings = scarce}},
      {"4 ranks, everything scarce",
       {.ranks = 4, .network = {.eager = 512, .refuse = 0.1, .eager_is_done = false}, .settings = scarce}},
  };
  Runs runs;
  for (const auto& [name, setup] : setups) {
    if (!testing::kSanitizer.empty() && setup.ranks != 2) continue;
    const auto make = [setup = setup] { return std::make_unique<Matching>(setup); };
    add_runs(runs, name, std::make_shared<HostedJob>(setup.ranks, make, setup.per_node), all_cases<RealHost>());
  }
  return runs;
}

}  // namespace

void register_mpi(Suite& suite) {
  suite.add({.name = "mpi-memory", .conduit = "mpi", .runs = &in_memory});
  suite.add(Launched{.network = "mpi", .conduit = "mpi", .run = &run_over_mpi});
}

}  // namespace gasmeter::conformance
