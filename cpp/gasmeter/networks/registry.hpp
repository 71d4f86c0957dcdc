// The networks of this build. CMake writes all() from the folders beside this file: each has a network.cpp that
// defines `void register_<folder>(Registry&)`.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "gasmeter/networks/modelled_network.hpp"
#include "gasmeter/networks/real_network.hpp"

namespace gasmeter::networks {

class Registry {
 public:
  // Made once. Throws UsageError where two registered the same.
  [[nodiscard]] static const Registry& all();

  // Has a folder register what it is.
  void take(const std::string& folder, void (*enter)(Registry&));

  // Throw UsageError for a name that is taken, and for a parameter or option that is declared twice; it names both.
  void add(RealEntry entry);
  void add(ModelledEntry entry);
  void add(ServiceEntry entry);

  [[nodiscard]] const std::vector<RealEntry>& real() const { return real_; }
  [[nodiscard]] const std::vector<ModelledEntry>& modelled() const { return modelled_; }
  [[nodiscard]] const std::vector<ServiceEntry>& services() const { return services_; }

 private:
  static Registry with_all_networks();
  void claim(const std::string& name);

  std::vector<RealEntry> real_;
  std::vector<ModelledEntry> modelled_;
  std::vector<ServiceEntry> services_;
  std::string folder_;                          // that registers now
  std::map<std::string, std::string> claimed_;  // what is registered, with its folder
};

}  // namespace gasmeter::networks
