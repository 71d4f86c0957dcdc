// Options of a conduit over datagrams that plan losses, duplicates, delays and corruption.
#pragma once

#include <vector>

#include "gasmeter/base/units.hpp"
#include "gasmeter/networks/network.hpp"
#include "gasmeter/services/impaired_datagrams.hpp"

namespace gasmeter::networks::udp {

[[nodiscard]] const std::vector<OptionInfo>& impairment_options();

// Read options loss, dup, reorder, corrupt and delay_us. Throws UsageError for values out of range.
[[nodiscard]] services::Impairment impairment_of(const Settings& settings, Rank self);

}  // namespace gasmeter::networks::udp
