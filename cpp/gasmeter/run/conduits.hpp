// The conduits of this build: what its networks offer and what that can be composed to, with names, options, and what
// kind of number they yield.
#pragma once

#include <string>
#include <vector>

#include "gasmeter/bench/info.hpp"
#include "gasmeter/networks/registry.hpp"

namespace gasmeter::run {

struct ConduitInfo {
  std::string name;  // CONDUIT or CONDUIT@NETWORK
  std::string summary;
  std::string network;  // what its rows name
  bool modelled = false;
  std::vector<bench::OptionInfo> options;
  bool raw = false;  // a network's own interface, without a conduit
  // What it is made of: one of the first two, and what is between the second and a conduit.
  const networks::RealEntry* real = nullptr;
  const networks::ModelledEntry* on = nullptr;
  const networks::ServiceEntry* service = nullptr;

  // Of a raw one: whether the kernel has a program on it.
  [[nodiscard]] bool has_raw(const std::string& kernel) const;
};

[[nodiscard]] const std::vector<ConduitInfo>& conduits();

// What they are composed to. Throws UsageError for a conduit of two networks, and for an option that two declare; it
// names both. What it returns points into the registry.
[[nodiscard]] std::vector<ConduitInfo> compose(const networks::Registry& registry);

// Throws UsageError naming the known ones.
[[nodiscard]] const ConduitInfo& find_conduit(const std::string& name);

// The networks on whose own interface a kernel has a program: what follows `raw@`.
[[nodiscard]] std::vector<std::string> raw_networks(const std::string& kernel);

}  // namespace gasmeter::run
