// Engine options, and placement of ranks on a topology's nodes, for all modelled machines.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "gasmeter/conduit/machine_values.hpp"
#include "gasmeter/conduit/pages.hpp"
#include "gasmeter/networks/modelled_network.hpp"
#include "gasmeter/sim/engine.hpp"
#include "gasmeter/sim/topology.hpp"

namespace gasmeter::networks {

// Return the engine options for ranks, fibres, seed and strictness. Throws UsageError for too many ranks.
[[nodiscard]] sim::EngineOptions common_options(const Settings& settings);

// Return the options of a conduit that can register memory at its first use: `registration` (`none` or `cached`) and
// `pinned_pages`.
[[nodiscard]] OptionInfo registration_option(const std::string& what_cached_does);
[[nodiscard]] OptionInfo pinned_pages_option();
// Return option node_local, for a conduit that can carry a node's own messages through memory or through the card.
[[nodiscard]] OptionInfo node_local_option(const std::string& usual, const std::string& what = "active messages");
// Return the limits that these two options set; empty if registration is off. Throws UsageError for a negative number
// of pages, or for pages without `registration=cached`.
[[nodiscard]] std::optional<conduit::PinLimits> pin_limits(const Settings& settings);

// Return option routing. `of` names the packets that may arrive in any order, and so may take any way.
[[nodiscard]] OptionInfo routing_option(const std::string& of);
// Return the flow number of such packets: sim::kUnordered if routers may choose their way. Throws UsageError if the
// topology has only one way for each pair.
[[nodiscard]] std::uint32_t unordered_flow(const sim::Topology& topology, const Settings& settings);

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
