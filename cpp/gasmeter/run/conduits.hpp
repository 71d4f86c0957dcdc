// The conduits of this build: its networks and their compositions, with names, options and the kind of number that each
// yields.
#pragma once

#include <string>
#include <vector>

#include "gasmeter/bench/info.hpp"
#include "gasmeter/networks/registry.hpp"

namespace gasmeter::run {

struct ConduitInfo {
  std::string name;  // CONDUIT or CONDUIT@NETWORK
  std::string summary;
  std::string network;  // as its rows name it
  bool modelled = false;
  std::vector<bench::OptionInfo> options;
  bool raw = false;  // a network's own interface, without a conduit
  // Parts of the conduit: one of the first two, and the service between the second and a conduit.
  const networks::RealEntry* real = nullptr;
  const networks::ModelledEntry* on = nullptr;
  const networks::ServiceEntry* service = nullptr;

  // Tell whether the kernel has a program on this raw conduit.
  [[nodiscard]] bool has_raw(const std::string& kernel) const;
};

[[nodiscard]] const std::vector<ConduitInfo>& conduits();

// Compose the conduits of a registry, into which the result points. Throws UsageError for a conduit of two networks,
// and for an option that two parts declare; it names both.
[[nodiscard]] std::vector<ConduitInfo> compose(const networks::Registry& registry);

// Find a conduit. Throws UsageError naming the known ones.
[[nodiscard]] const ConduitInfo& find_conduit(const std::string& name);

// Return the networks on whose own interface a kernel has a program: the names behind `raw@`.
[[nodiscard]] std::vector<std::string> raw_networks(const std::string& kernel);

}  // namespace gasmeter::run
