// Engine options, and placement of ranks on a topology's nodes, for all modelled machines.
#pragma once

#include <cstdint>
#include <vector>

#include "gasmeter/conduit/machine_values.hpp"
#include "gasmeter/networks/modelled_network.hpp"
#include "gasmeter/sim/engine/engine.hpp"
#include "gasmeter/sim/topology/topology.hpp"

namespace gasmeter::networks {

// Return the engine options for ranks, fibres, seed and strictness. Throws UsageError for too many ranks.
[[nodiscard]] sim::EngineOptions common_options(const Settings& settings);

// Return the flow number of packets that may arrive in any order: sim::kUnordered if routers may choose their way
// (`adaptive`). Throws UsageError if the topology has only one way for each pair.
[[nodiscard]] std::uint32_t unordered_flow(const sim::Topology& topology, bool adaptive);

// Ranks on the nodes of a topology. The engine gets one node for each vertex, switches included.
class Installation {
 public:
  Installation(conduit::MachineValues& machine, const ModelledJob& job);

  [[nodiscard]] const sim::Topology& topology() const { return topology_; }
  // Add threads, nodes and the node of each rank to common_options().
  [[nodiscard]] sim::EngineOptions engine_options(const Settings& settings, const conduit::HostPrices& prices) const;

 private:
  sim::Topology topology_;
  std::vector<std::uint32_t> node_of_;
};

}  // namespace gasmeter::networks
