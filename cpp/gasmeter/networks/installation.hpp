// What modelled machines have in common: engine options, and ranks on the nodes of a topology.
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

// Ranks, fibres, seed and strictness as the settings have them. Throws UsageError for too many ranks.
[[nodiscard]] sim::EngineOptions common_options(const Settings& settings);

// Options of conduits that can have memory registered when it is used: `registration`, `none` or `cached`, and
// `pinned_pages`.
[[nodiscard]] OptionInfo registration_option(const std::string& what_cached_does);
[[nodiscard]] OptionInfo pinned_pages_option();
// Option node_local of a conduit that carries messages between ranks of one node either way.
[[nodiscard]] OptionInfo node_local_option(const std::string& usual, const std::string& what = "active messages");
// What they say; empty: nothing is registered so. Throws UsageError for a number of pages that cannot be, or that
// nothing makes use of.
[[nodiscard]] std::optional<conduit::PinLimits> pin_limits(const Settings& settings);

// Option routing: which ways packets `of` something take whose order nobody counts on.
[[nodiscard]] OptionInfo routing_option(const std::string& of);
// The flow of such packets: sim::kUnordered where they choose. Throws UsageError where there is nothing to choose.
[[nodiscard]] std::uint32_t unordered_flow(const sim::Topology& topology, const Settings& settings);

// Ranks on the nodes of a topology, as many routers as it takes.
class Installation {
 public:
  Installation(conduit::MachineValues& machine, const ModelledJob& job);

  [[nodiscard]] const sim::Topology& topology() const { return topology_; }
  // With threads, nodes and who is where.
  [[nodiscard]] sim::EngineOptions engine_options(const Settings& settings, const conduit::HostPrices& prices) const;

 private:
  sim::Topology topology_;
  std::vector<std::uint32_t> node_of_;
};

}  // namespace gasmeter::networks
