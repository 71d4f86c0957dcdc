#include "gasmeter/networks/option_table.hpp"

#include <cmath>

#include "gasmeter/base/error.hpp"

namespace gasmeter::networks {
namespace {

// Return the limits that options registration and pinned_pages set; empty if registration is off. Throws UsageError for
// a negative number of pages, or for pages without `registration=cached`.
std::optional<conduit::PinLimits> pin_limits(const Settings& settings) {
  const std::int64_t pages = settings.integer("pinned_pages");
  if (pages < 0) {
    throw UsageError("option 'pinned_pages=" + std::to_string(pages) + "': allowed are 0 (no limit) and more");
  }
  if (settings.text("registration") == "cached") return conduit::PinLimits{.pages = static_cast<std::uint64_t>(pages)};
  if (pages != 0) throw UsageError("option 'pinned_pages' limits nothing; it needs option 'registration=cached'");
  return std::nullopt;
}

}  // namespace

OptionInfo registration_option(const std::string& what_cached_does) {
  return {"registration", "choice", "none", "", {"none", "cached"}, "cached: " + what_cached_does};
}

OptionInfo node_local_option(const std::string& usual, const std::string& what) {
  return {"node_local",
          "choice",
          usual,
          "",
          {"shared", "loop"},
          what + " between ranks of one node: through its memory, or looped through its card"};
}

std::int64_t OptionTable::whole(const Settings& settings, const char* name, std::int64_t least, std::int64_t most,
                                const std::string& allowed) {
  const std::int64_t value = settings.integer(name);
  if (value >= least && value <= most) return value;
  throw UsageError(
      "option '" + std::string(name) + "=" + settings.text(name) +
      "': " + (allowed.empty() ? "allowed are " + std::to_string(least) + " to " + std::to_string(most) : allowed));
}

void OptionTable::flag(const char* name, bool& field, const char* summary) {
  add({name, "bool", field ? "true" : "false", "", {}, summary},
      [&field, name](const Settings& settings) { field = settings.flag(name); });
}

void OptionTable::time(const char* name, SimTime& field, const char* summary, int digits) {
  add({name, "float", "0", "ns", {}, summary}, [&field, name, digits](const Settings& settings) {
    const double ns = settings.number(name);
    if (!(ns >= 0 && ns <= std::pow(10.0, digits))) {
      throw UsageError("option '" + std::string(name) + "=" + settings.text(name) + "': 0 to 1e" +
                       std::to_string(digits) + " ns are allowed");
    }
    field = SimTime::from_ns(ns);
  });
}

void OptionTable::registration(std::optional<conduit::PinLimits>& limits, const std::string& what_cached_does) {
  OptionInfo info = registration_option(what_cached_does);
  if (limits) info.default_value = "cached";
  add(std::move(info), [&limits](const Settings& settings) { limits = pin_limits(settings); });
  add({"pinned_pages",
       "int",
       "0",
       "pages",
       {},
       "with registration=cached: most pages that a rank may have registered so (0: no limit)"},
      nullptr);
}

void OptionTable::node_local(bool& shared) {
  add(node_local_option(shared ? "shared" : "loop"),
      [&shared](const Settings& settings) { shared = settings.text("node_local") == "shared"; });
}

void OptionTable::routing(bool& adaptive, const std::string& of) {
  add({"routing",
       "choice",
       "minimal",
       "",
       {"minimal", "adaptive"},
       "ways of " + of +
           ": as short as can be and in order, or as their first router sees fit, where there are several"},
      [&adaptive](const Settings& settings) { adaptive = settings.text("routing") == "adaptive"; });
}

std::vector<OptionInfo> OptionTable::infos() const {
  std::vector<OptionInfo> all;
  for (const auto& [info, read] : rows_) all.push_back(info);
  return all;
}

void OptionTable::read(const Settings& settings) const {
  for (const auto& [info, read] : rows_) {
    if (read) read(settings);
  }
}

}  // namespace gasmeter::networks
