// Options of a network of links alone: by which they differ from those of the machine, one class of them and the echoes
// of one-way rings, and which ways puts take.
#pragma once

#include <vector>

#include "gasmeter/networks/network.hpp"
#include "gasmeter/sim/fabric.hpp"

namespace gasmeter::networks::fabric {

[[nodiscard]] const std::vector<OptionInfo>& link_options();

// Throws UsageError for values out of range; classes that the topology does not have are the fabric's to refuse.
[[nodiscard]] sim::FabricParameters with_options(const sim::LinkParameters& links, const Settings& settings);

}  // namespace gasmeter::networks::fabric
