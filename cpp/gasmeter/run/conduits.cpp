#include "gasmeter/run/conduits.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "gasmeter/base/error.hpp"
#include "gasmeter/sim/fibre.hpp"

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

Options joined(Options first, const Options& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

Options sorted(Options options) {
  std::sort(options.begin(), options.end(), [](const OptionInfo& a, const OptionInfo& b) { return a.name < b.name; });
  return options;
}

OptionInfo neighbourhood(const std::string& where) {
  return {"neighbourhood", "bool", "false", "", {}, "ranks of one " + where + " use shared memory between them"};
}

// What everything in virtual time has.
Options of_virtual_time(const ModelledEntry& network) {
  std::vector<std::string> makers{std::string(sim::name(sim::FibreMaker::automatic))};
  for (const sim::FibreMaker maker : sim::available_makers()) makers.emplace_back(sim::name(maker));
  Options options = {
      {"fibres", "choice", "automatic", "", makers, "how virtual ranks are made; never changes a result"},
      {"sync",
       "choice",
       "lazy",
       "",
       {"lazy", "strict"},
       "strict synchronises before every price; never changes a result"}};
  if (network.threads) {
    options.push_back({"threads", "int", "1", "threads", {}, "at most so many simulate; never changes a result"});
  }
  return options;
}

void add_real(std::vector<ConduitInfo>& all, const RealEntry& entry) {
  for (const Access& conduit : entry.info.conduits) {
    Options options = conduit.options;
    if (!entry.shares_memory) options.push_back(neighbourhood("host"));
    all.push_back({conduit.name, conduit.summary, entry.info.name, false, sorted(std::move(options)), false, &entry});
  }
  if (entry.info.raw.empty()) return;
  all.push_back({std::string(kRaw) + entry.info.name, entry.info.summary, entry.info.name, false,
                 sorted(entry.info.raw_options), true, &entry});
}

void add_modelled(std::vector<ConduitInfo>& all, const ModelledEntry& entry) {
  const Options common = of_virtual_time(entry);
  for (const Access& conduit : entry.info.conduits) {
    Options options = joined(conduit.options, common);
    options.push_back(neighbourhood("node"));
    all.push_back(
        {conduit.name, conduit.summary, entry.info.name, true, sorted(std::move(options)), false, nullptr, &entry});
  }
  if (entry.info.raw.empty()) return;
  all.push_back({std::string(kRaw) + entry.info.name, entry.info.summary, entry.info.name, true,
                 sorted(joined(entry.info.raw_options, common)), true, nullptr, &entry});
}

void add_over_service(std::vector<ConduitInfo>& all, const ServiceEntry& service, const ModelledEntry& entry) {
  const std::string& words = service.service == Service::messages ? entry.messages : entry.datagrams;
  if (words.empty()) return;
  const std::string name = service.name + "@" + (entry.known_as.empty() ? entry.info.name : entry.known_as);
  const Options common = joined(of_virtual_time(entry), entry.service_options);
  Options options = joined(service.options, common);
  options.push_back(neighbourhood("node"));
  all.push_back({name, service.summary + " over " + words, entry.info.name, true, sorted(std::move(options)), false,
                 nullptr, &entry, &service});
  if (service.raw.empty()) return;
  all.push_back({std::string(kRaw) + name, service.raw_summary + " over " + words, entry.info.name, true,
                 sorted(joined(service.raw_options, common)), true, nullptr, &entry, &service});
}

// Memory first: it is there everywhere.
std::vector<ConduitInfo> compose(const Registry& registry) {
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
  for (const ConduitInfo& conduit : all) {
    const auto same = [&](const ConduitInfo& other) { return other.name == conduit.name; };
    if (std::count_if(all.begin(), all.end(), same) > 1) {
      throw UsageError("conduit '" + conduit.name + "' is registered twice");
    }
    for (std::size_t i = 1; i < conduit.options.size(); ++i) {
      if (conduit.options[i].name == conduit.options[i - 1].name) {
        throw UsageError("conduit " + conduit.name + ": option '" + conduit.options[i].name + "' is declared twice");
      }
    }
  }
  return all;
}

}  // namespace

bool ConduitInfo::has_raw(const std::string& kernel) const {
  if (!raw) return false;
  const std::vector<networks::RawInfo>& programs = service != nullptr ? service->raw
                                                   : on != nullptr    ? on->info.raw
                                                                      : real->info.raw;
  return std::any_of(programs.begin(), programs.end(),
                     [&kernel](const networks::RawInfo& program) { return program.kernel == kernel; });
}

const std::vector<ConduitInfo>& conduits() {
  static const std::vector<ConduitInfo> all = compose(Registry::all());
  return all;
}

const ConduitInfo& find_conduit(const std::string& name) {
  std::string known;
  for (const ConduitInfo& conduit : conduits()) {
    if (conduit.name == name) return conduit;
    known += (known.empty() ? "" : ", ") + conduit.name;
  }
  throw UsageError("conduit '" + name + "' is unknown; known: " + known);
}

std::vector<std::string> raw_networks(const std::string& kernel) {
  std::vector<std::string> names;
  for (const ConduitInfo& conduit : conduits()) {
    if (conduit.has_raw(kernel)) names.push_back(conduit.name.substr(kRaw.size()));
  }
  return names;
}

}  // namespace gasmeter::run
