// The memory that this process may still fill.
#pragma once

#include <string>

#include "gasmeter/base/units.hpp"

namespace gasmeter::launch {

// Return the least of MemAvailable and the room left in every memory control group above this process. Containers and
// batch systems limit jobs by such groups, which /proc/meminfo does not show. `root` is put before /proc and /sys
// (tests).
[[nodiscard]] Bytes available_memory(const std::string& root = "");

}  // namespace gasmeter::launch
