// Options of links: one class of links that differs from the machine's, and echoes of one-way rings.
#pragma once

#include <vector>

#include "gasmeter/networks/network.hpp"
#include "gasmeter/sim/fabric/fabric.hpp"

namespace gasmeter::networks::fabric {

[[nodiscard]] const std::vector<OptionInfo>& link_options();

// Throws UsageError for values out of range. The fabric refuses classes that the topology does not have.
[[nodiscard]] sim::FabricParameters with_options(const sim::LinkParameters& links, const Settings& settings);

}  // namespace gasmeter::networks::fabric
