// The conduits of this build: names, options, and what kind of number they yield.
#pragma once

#include <string>
#include <vector>

#include "gasmeter/kernels/kernel.hpp"

namespace gasmeter::run {

struct ConduitInfo {
  std::string name;  // CONDUIT or CONDUIT@NETWORK
  std::string summary;
  std::string network;  // what its rows name
  bool modelled = false;
  std::vector<kernels::OptionInfo> options;
};

[[nodiscard]] const std::vector<ConduitInfo>& conduits();

// Throws UsageError naming the known ones.
[[nodiscard]] const ConduitInfo& find_conduit(const std::string& name);

}  // namespace gasmeter::run
