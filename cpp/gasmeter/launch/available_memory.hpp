// How much memory this process may still fill.
#pragma once

#include <string>

#include "gasmeter/base/units.hpp"

namespace gasmeter::launch {

// The least of MemAvailable and the room left in every memory control group above this process (containers and batch
// systems limit jobs that way, and /proc/meminfo does not know). `root` is put before /proc and /sys (tests).
[[nodiscard]] Bytes available_memory(const std::string& root = "");

}  // namespace gasmeter::launch
