#include "suite.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "gasmeter/run/conduits.hpp"

namespace gasmeter::conformance {
namespace {

std::ptrdiff_t place_of(const std::string& conduit) {
  const std::vector<run::ConduitInfo>& all = run::conduits();
  return std::find_if(all.begin(), all.end(), [&](const auto& info) { return info.name == conduit; }) - all.begin();
}

}  // namespace

std::string_view name_of(Kind kind) {
  if (kind == Kind::virtual_time) return "virtual";
  return kind == Kind::threads ? "threads" : "sockets";
}

Runs Family::runs(bool every_shape) const {
  Runs runs = all_runs();
  if (!every_shape) std::erase_if(runs, [](const Run& run) { return run.other_shape; });
  return runs;
}

const Suite& Suite::all() {
  static const Suite suite = [] {
    Suite made;
    add_shared_memory(made);
    add_networks(made);
    add_modelled(made);
    made.arrange();
    return made;
  }();
  return suite;
}

void Suite::add(Family family) {
  families_.push_back(std::move(family));
}

// Append the conduit's name to family names that two conduits share. A network that is a copy of another has the same
// families.
void Suite::arrange() {
  std::vector<std::string> shared;
  for (const Family& family : families_) {
    const auto named_so = [&](const Family& other) { return other.name == family.name; };
    if (std::count_if(families_.begin(), families_.end(), named_so) > 1) shared.push_back(family.name);
  }
  for (Family& family : families_) {
    if (std::find(shared.begin(), shared.end(), family.name) != shared.end()) {
      family.name = family.conduit + "-" + family.name;
    }
  }
  std::sort(families_.begin(), families_.end(), [](const Family& a, const Family& b) {
    return std::tuple(place_of(a.conduit), a.name) < std::tuple(place_of(b.conduit), b.name);
  });
}

const Family* Suite::find(const std::string& name) const {
  const auto position =
      std::find_if(families_.begin(), families_.end(), [&](const Family& family) { return family.name == name; });
  return position == families_.end() ? nullptr : &*position;
}

}  // namespace gasmeter::conformance
