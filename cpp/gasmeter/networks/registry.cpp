#include "gasmeter/networks/registry.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "gasmeter/base/error.hpp"

namespace gasmeter::networks {
namespace {

// `what`: of which network, for the message.
template <class Items, class Name>
void check_once(const Items& items, const std::string& what, Name name) {
  std::set<std::string> seen;
  for (const auto& item : items) {
    if (!seen.insert(name(item)).second) throw UsageError(what + " '" + name(item) + "' is declared twice");
  }
}

void check_options(const std::vector<OptionInfo>& options, const std::string& whose) {
  check_once(options, whose + ": option", [](const OptionInfo& option) { return option.name; });
}

void check(const NetworkInfo& info) {
  const std::string whose = "network " + info.name;
  for (const Access& conduit : info.conduits) check_options(conduit.options, whose + ", conduit " + conduit.name);
  check_options(info.raw_options, whose + ", raw@" + info.name);
  check_once(info.raw, whose + ": raw program of kernel", [](const RawInfo& raw) { return raw.kernel; });
}

}  // namespace

const Registry& Registry::all() {
  static const Registry registry = with_all_networks();
  return registry;
}

void Registry::add(RealEntry entry) {
  check_name(entry.info.name);
  check(entry.info);
  real_.push_back(std::move(entry));
}

void Registry::add(ModelledEntry entry) {
  check_name(entry.info.name);
  check(entry.info);
  check_once(entry.parameters, "network " + entry.info.name + ": parameter",
             [](const ParameterInfo& parameter) { return parameter.key; });
  modelled_.push_back(std::move(entry));
}

void Registry::add(ServiceEntry entry) {
  for (const ServiceEntry& other : services_) {
    if (other.name == entry.name) throw UsageError("conduit '" + entry.name + "' over services is registered twice");
  }
  check_options(entry.options, "conduit " + entry.name);
  services_.push_back(std::move(entry));
}

void Registry::check_name(const std::string& name) const {
  const auto is_it = [&name](const auto& entry) { return entry.info.name == name; };
  if (std::any_of(real_.begin(), real_.end(), is_it) || std::any_of(modelled_.begin(), modelled_.end(), is_it)) {
    throw UsageError("network '" + name + "' is registered twice");
  }
}

}  // namespace gasmeter::networks
