// Options by which links differ from those of the machine: one class of them, and the echoes of one-way rings. And
// which ways puts take.
#pragma once

#include <cstdint>
#include <vector>

#include "gasmeter/networks/network.hpp"
#include "gasmeter/sim/fabric.hpp"

namespace gasmeter::networks::fabric {

[[nodiscard]] const std::vector<OptionInfo>& link_options();

// Throws UsageError for values out of range; classes that the topology does not have are the fabric's to refuse.
[[nodiscard]] sim::FabricParameters with_options(const sim::LinkParameters& links, const Settings& settings);

// sim::kUnordered where puts choose their ways. Throws UsageError where there is nothing to choose.
[[nodiscard]] std::uint32_t flow_of_puts(const sim::Topology& topology, const Settings& settings);

}  // namespace gasmeter::networks::fabric
