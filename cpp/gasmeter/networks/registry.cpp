#include "gasmeter/networks/registry.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "gasmeter/base/error.hpp"
#include "gasmeter/bench/declared_once.hpp"

namespace gasmeter::networks {
namespace {

void check(const NetworkInfo& info) {
  const std::string whose = "network " + info.name;
  for (const Access& conduit : info.conduits) {
    bench::check_options(conduit.options, whose + ", conduit " + conduit.name);
  }
  bench::check_options(info.raw_options, whose + ", raw@" + info.name);
  std::set<std::string> seen;
  for (const std::string& kernel : info.raw) {
    if (!seen.insert(kernel).second) throw UsageError(whose + " has two raw programs of kernel " + kernel);
  }
}

// Check that each bound is the key of another number of the same machine.
void check_bounds(const std::vector<ParameterInfo>& parameters, const std::string& whose) {
  const auto is_known = [&parameters](const ParameterInfo& bounded, const std::string& key) {
    return std::any_of(parameters.begin(), parameters.end(), [&](const ParameterInfo& other) {
      return other.key == key && other.key != bounded.key && other.kind != "topology";
    });
  };
  for (const ParameterInfo& parameter : parameters) {
    for (const std::string& key : {parameter.at_most, parameter.below}) {
      if (!key.empty() && !is_known(parameter, key)) {
        throw UsageError(whose + ": parameter '" + parameter.key + "' is bounded by '" + key +
                         "', which is no other number of it");
      }
    }
  }
}

}  // namespace

const Registry& Registry::all() {
  static const Registry registry = with_all_networks();
  return registry;
}

void Registry::take(const std::string& folder, void (*enter)(Registry&)) {
  folder_ = folder;
  enter(*this);
}

void Registry::add(RealEntry entry) {
  claim("network '" + entry.info.name + "'");
  check(entry.info);
  real_.push_back(std::move(entry));
}

void Registry::add(ModelledEntry entry) {
  claim("network '" + entry.info.name + "'");
  check(entry.info);
  bench::check_once(entry.parameters, "network " + entry.info.name + ": parameter", &ParameterInfo::key);
  check_bounds(entry.parameters, "network " + entry.info.name);
  bench::check_options(entry.service_options, "network " + entry.info.name + ", conduits over its services");
  modelled_.push_back(std::move(entry));
}

void Registry::add(ServiceEntry entry) {
  claim("conduit '" + entry.name + "' over services");
  bench::check_options(entry.options, "conduit " + entry.name + " over services");
  bench::check_options(entry.raw_options, "raw@" + entry.name + " over services");
  services_.push_back(std::move(entry));
}

void Registry::claim(const std::string& name) {
  const auto [place, is_new] = claimed_.emplace(name, folder_);
  if (is_new) return;
  throw UsageError(name + " is registered twice: by networks/" + place->second + " and by networks/" + folder_ +
                   "; rename one");
}

}  // namespace gasmeter::networks
