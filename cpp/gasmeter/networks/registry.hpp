// Networks of this build. CMake writes with_all_networks() from the folders beside this file. Each folder has a
// network.cpp that defines `void register_<folder>(Registry&)`.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "gasmeter/networks/modelled_network.hpp"
#include "gasmeter/networks/real_network.hpp"

namespace gasmeter::networks {

class Registry {
 public:
  // Made at the first call. Throws UsageError if two folders register the same name.
  [[nodiscard]] static const Registry& all();

  // Register everything in a folder. Error messages name the folder.
  void take(const std::string& folder, void (*enter)(Registry&));

  // Throw UsageError for a name that is taken, and for a parameter or option that is declared twice. The message
  // names both places.
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
  std::string folder_;                          // folder that registers now
  std::map<std::string, std::string> claimed_;  // registered names, and the folder of each
};

}  // namespace gasmeter::networks
