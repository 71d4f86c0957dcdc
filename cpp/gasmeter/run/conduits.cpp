#include "gasmeter/run/conduits.hpp"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "gasmeter/base/error.hpp"
#include "gasmeter/sim/fibres/fibre.hpp"

namespace gasmeter::run {

namespace {

using bench::OptionInfo;
using networks::Access;
using networks::ModelledEntry;
using networks::RealEntry;
using networks::Registry;
using networks::Service;
using networks::ServiceEntry;

constexpr std::string_view kRaw = "raw@";

using Options = std::vector<OptionInfo>;

// Options, and the part that declares them.
struct Part {
  std::string whose;
  Options options;
};

// Compose the options of conduit `name`, in the order of their names. Throws UsageError for an option that two parts
// declare, and names both.
Options composed(const std::string& name, const std::vector<Part>& parts) {
  std::map<std::string, std::pair<OptionInfo, std::string>> all;
  for (const Part& part : parts) {
    for (const OptionInfo& option : part.options) {
      const auto [place, is_new] = all.emplace(option.name, std::pair{option, part.whose});
      if (is_new) continue;
      throw UsageError("conduit " + name + ": option '" + option.name + "' is declared twice: by " +
                       place->second.second + " and by " + part.whose + "; rename one");
    }
  }
  Options options;
  for (auto& [key, declared] : all) options.push_back(std::move(declared.first));
  return options;
}

Part neighbourhood(const std::string& where) {
  return {"every conduit",
          {{"neighbourhood", "bool", "false", "", {}, "ranks of one " + where + " use shared memory between them"}}};
}

Part every_endpoint() {
  const std::vector<std::string> forms{"specialised", "reference"};
  return {"every endpoint",
          {{"poll_at_injection",
            "bool",
            "false",
            "",
            {},
            "requests, and puts, gets and atomics that leave by the conduit, poll first, as in GASNet-1; immediate "
            "ones do not"},
           {"np_am", "choice", "specialised", "", forms,
            "reference: a prepare allocates memory and takes nothing else, its commit is a message with fixed payload, "
            "as in GASNet-EX where a network has no code of its own"},
           {"immediate", "choice", "specialised", "", forms,
            "reference: the flag is ignored, and calls that have it wait as others do"},
           {"local_completion", "choice", "specialised", "", forms,
            "reference: a put whose source has to be free before the whole put is complete, and is not copied, waits "
            "until it is complete"},
           {"atomics",
            "choice",
            "specialised",
            "",
            {"specialised", "reference", "messages"},
            "specialised: the network does atomics where it does all of a domain's set; reference: never, neighbours' "
            "are done directly and others' by active messages; messages: all by active messages, a rank's own, too"}}};
}

// Return the options of all conduits in virtual time.
Part of_virtual_time(const ModelledEntry& network) {
  std::vector<std::string> makers{std::string(sim::name(sim::FibreMaker::automatic))};
  for (const sim::FibreMaker maker : sim::available_makers()) makers.emplace_back(sim::name(maker));
  constexpr bool kNeutral = true;
  Options options = {
      {"fibres", "choice", "automatic", "", makers, "how virtual ranks are made; never changes a result", kNeutral},
      {"sync",
       "choice",
       "lazy",
       "",
       {"lazy", "strict"},
       "strict synchronises before every price; never changes a result",
       kNeutral}};
  if (network.threads) {
    options.push_back(
        {"threads", "int", "1", "threads", {}, "at most so many simulate; never changes a result", kNeutral});
  }
  return {"everything in virtual time", options};
}

Part of(const networks::NetworkInfo& network, const Options& options) {
  return {"network " + network.name, options};
}

void add_real(std::vector<ConduitInfo>& all, const RealEntry& entry) {
  const networks::NetworkInfo& info = entry.info;
  for (const Access& conduit : info.conduits) {
    std::vector<Part> parts = {of(info, conduit.options), every_endpoint()};
    if (!entry.shares_memory) parts.push_back(neighbourhood("host"));
    all.push_back({conduit.name, conduit.summary, info.name, false, composed(conduit.name, parts), false, &entry});
  }
  if (info.raw.empty()) return;
  const std::string name = std::string(kRaw) + info.name;
  all.push_back({name, info.summary, info.name, false, composed(name, {of(info, info.raw_options)}), true, &entry});
}

void add_modelled(std::vector<ConduitInfo>& all, const ModelledEntry& entry) {
  const networks::NetworkInfo& info = entry.info;
  const Part common = of_virtual_time(entry);
  for (const Access& conduit : info.conduits) {
    all.push_back({conduit.name, conduit.summary, info.name, true,
                   composed(conduit.name, {of(info, conduit.options), every_endpoint(), common, neighbourhood("node")}),
                   false, nullptr, &entry});
  }
  if (info.raw.empty()) return;
  const std::string name = std::string(kRaw) + info.name;
  all.push_back({name, info.summary, info.name, true, composed(name, {of(info, info.raw_options), common}), true,
                 nullptr, &entry});
}

void add_over_service(std::vector<ConduitInfo>& all, const ServiceEntry& service, const ModelledEntry& entry) {
  const std::string& words = service.service == Service::messages ? entry.messages : entry.datagrams;
  if (words.empty()) return;
  const std::string name = service.name + "@" + (entry.known_as.empty() ? entry.info.name : entry.known_as);
  const std::string whose = service.name + " over services";
  const Part matching = {"matching over a device", entry.matches ? Options{} : service.matching_options};
  const Part common = of_virtual_time(entry), added = of(entry.info, entry.service_options);
  all.push_back(
      {name, service.summary + " over " + words, entry.info.name, true,
       composed(name, {{whose, service.options}, matching, every_endpoint(), common, added, neighbourhood("node")}),
       false, nullptr, &entry, &service});
  if (service.raw.empty()) return;
  const std::string raw = std::string(kRaw) + name;
  all.push_back({raw, service.raw_summary + " over " + words, entry.info.name, true,
                 composed(raw, {{"raw " + whose, service.raw_options}, matching, common, added}), true, nullptr, &entry,
                 &service});
}

// List the conduits. Those over shared memory come first, as they exist everywhere.
std::vector<ConduitInfo> listed(const Registry& registry) {
  std::vector<ConduitInfo> all;
  for (const bool shares : {true, false}) {
    for (const RealEntry& entry : registry.real()) {
      if (entry.shares_memory == shares) add_real(all, entry);
    }
  }
  for (const ModelledEntry& entry : registry.modelled()) add_modelled(all, entry);
  for (const ServiceEntry& service : registry.services()) {
    for (const ModelledEntry& entry : registry.modelled()) add_over_service(all, service, entry);
  }
  return all;
}

}  // namespace

bool ConduitInfo::has_raw(const std::string& kernel) const {
  if (!raw) return false;
  const std::vector<std::string>& kernels = service != nullptr ? service->raw
                                            : on != nullptr    ? on->info.raw
                                                               : real->info.raw;
  return std::find(kernels.begin(), kernels.end(), kernel) != kernels.end();
}

std::vector<ConduitInfo> compose(const Registry& registry) {
  std::vector<ConduitInfo> all = listed(registry);
  std::map<std::string, std::string> seen;  // conduit to network
  for (const ConduitInfo& conduit : all) {
    const auto [place, is_new] = seen.emplace(conduit.name, conduit.network);
    if (is_new) continue;
    throw UsageError("conduit '" + conduit.name + "' is registered twice: by network " + place->second +
                     " and by network " + conduit.network + "; rename one");
  }
  return all;
}

const std::vector<ConduitInfo>& conduits() {
  static const std::vector<ConduitInfo> all = compose(Registry::all());
  return all;
}

const ConduitInfo& find_conduit(const std::string& name) {
  std::string names;
  for (const ConduitInfo& conduit : conduits()) {
    if (conduit.name == name) return conduit;
    names += (names.empty() ? "" : ", ") + conduit.name;
  }
  throw UsageError("conduit '" + name + "' is unknown; known: " + names);
}

std::vector<std::string> raw_networks(const std::string& kernel) {
  std::vector<std::string> names;
  for (const ConduitInfo& conduit : conduits()) {
    if (conduit.has_raw(kernel)) names.push_back(conduit.name.substr(kRaw.size()));
  }
  return names;
}

}  // namespace gasmeter::run
