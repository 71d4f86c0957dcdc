#include "gasmeter/networks/installation.hpp"

#include <string>

#include "gasmeter/base/error.hpp"
#include "gasmeter/sim/topology/placement.hpp"

namespace gasmeter::networks {
namespace {

using conduit::MachineValues;

constexpr std::uint32_t kMostRanks = 65536;
constexpr std::int64_t kMostThreads = 64;

unsigned threads_of(const Settings& settings) {
  const std::int64_t threads = settings.integer("threads");
  if (threads < 1 || threads > kMostThreads) {
    throw UsageError("option 'threads=" + std::to_string(threads) + "': allowed are 1.." +
                     std::to_string(kMostThreads));
  }
  return static_cast<unsigned>(threads);
}

std::string take_text(MachineValues& machine, const ModelledJob& job, const std::string& key,
                      const std::string& otherwise) {
  return job.machine.contains(key) ? machine.text(key) : otherwise;
}

}  // namespace

sim::EngineOptions common_options(const Settings& settings) {
  if (settings.ranks > kMostRanks) {
    throw UsageError("ranks=" + std::to_string(settings.ranks) + "; virtual time carries 1.." +
                     std::to_string(kMostRanks));
  }
  sim::EngineOptions options;
  options.ranks = settings.ranks;
  options.strict = settings.text("sync") == "strict";
  options.fibres = sim::parse_fibre_maker(settings.text("fibres"));
  options.seed = settings.seed;
  return options;
}

std::uint32_t unordered_flow(const sim::Topology& topology, bool adaptive) {
  if (!adaptive) return 0;
  if (topology.chooser() != nullptr) return sim::kUnordered;
  throw UsageError("option 'routing=adaptive': on " + topology.name() + " there is one way each; take xc:G");
}

Installation::Installation(MachineValues& machine, const ModelledJob& job)
    : topology_(sim::Topology::parse(machine.text("topology"))),
      node_of_(sim::Placement::parse(take_text(machine, job, "placement", "fill"))
                   .place(job.settings.ranks, topology_.terminals(), machine.count("ranks_per_node"))) {}

sim::EngineOptions Installation::engine_options(const Settings& settings, const conduit::HostPrices& prices) const {
  sim::EngineOptions options = common_options(settings);
  options.threads = threads_of(settings);
  options.prices = prices;
  options.nodes = topology_.vertices();
  options.node_of = node_of_;
  for (const sim::SlowNode& slow : topology_.slow_nodes()) {
    options.slowness.resize(options.nodes);
    options.slowness[slow.node] = slow.slowness;
  }
  return options;
}

}  // namespace gasmeter::networks
