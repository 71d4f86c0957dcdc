// Options and counters of kernels on shared spaces.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <iterator>
#include <limits>
#include <string>
#include <vector>

#include "gasmeter/base/error.hpp"
#include "gasmeter/base/random.hpp"
#include "gasmeter/bench/info.hpp"
#include "gasmeter/bench/settings.hpp"
#include "gasmeter/conduit/counts.hpp"
#include "gasmeter/pgas/space.hpp"

namespace gasmeter::kernels {

// Describe an option of a space for catalogues.
[[nodiscard]] inline bench::OptionInfo info_of(const pgas::SpaceOption& option) {
  using Kind = pgas::SpaceOption::Kind;
  const std::uint64_t value = option.default_value;
  const std::vector<std::string> choices(option.choices.begin(), option.choices.end());
  if (option.kind == Kind::choice) return {option.name, "choice", choices[value], "", choices, option.summary};
  if (option.kind == Kind::flag) return {option.name, "bool", value != 0 ? "true" : "false", "", {}, option.summary};
  if (option.kind == Kind::bytes) return {option.name, "int", std::to_string(value), "B", {}, option.summary};
  return {option.name, "text", std::to_string(value), "", {}, option.summary};
}

// Return the options of a space, and whether a first run, neither timed nor counted, fills caches.
[[nodiscard]] inline std::vector<bench::OptionInfo> space_options() {
  std::vector<bench::OptionInfo> options;
  std::ranges::transform(pgas::kSpaceOptions, std::back_inserter(options), &info_of);
  options.push_back({"warm", "bool", "true", "", {}, "a first run fills caches, untimed and uncounted"});
  return options;
}

// Tell whether ranks of a node share memory: for Kernel::shares_nodes.
[[nodiscard]] inline bool is_near_direct(const bench::Settings& settings) {
  return settings.text("near") == "direct";
}

// Return the value of a space's option. Throws UsageError for one that no space can have.
[[nodiscard]] inline std::uint64_t value_of(const pgas::SpaceOption& option, const bench::Settings& settings) {
  using Kind = pgas::SpaceOption::Kind;
  const std::string& text = settings.text(option.name);
  if (option.kind == Kind::flag) return settings.flag(option.name) ? 1 : 0;
  if (option.kind == Kind::choice) {
    return static_cast<std::uint64_t>(std::ranges::find(option.choices, text) - option.choices.begin());
  }
  const bool is_limit = option.kind == Kind::entries;
  if (is_limit && text == "unlimited") return pgas::kUnlimited;
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc{} && end == text.data() + text.size() && number >= option.least &&
      number <= (is_limit ? pgas::kUnlimited : std::uint64_t{std::numeric_limits<std::int32_t>::max()})) {
    return number;
  }
  throw UsageError("option '" + std::string(option.name) + "=" + text + "': allowed are " +
                   std::to_string(option.least) + (is_limit ? " entry or more, and unlimited" : " to 2147483647 B"));
}

// Return the options of a space. Throws UsageError for values that no space can have.
[[nodiscard]] inline pgas::SpaceOptions space_options_of(const bench::Settings& settings) {
  pgas::SpaceOptions options{.seed = settings.seed};
  for (const pgas::SpaceOption& option : pgas::kSpaceOptions) option.set(options, value_of(option, settings));
  return options;
}

// Counters of timed accesses alone: those between begin() and end(). A program that has one is a conduit::CountsItself
// and calls add_to().
template <class H>
class CountedAccesses {
 public:
  CountedAccesses(pgas::SharedSpace<H>& space, std::uint64_t seed) : space_(space), seed_(seed) {}

  void begin() { before_ = space_.counters(); }
  // End the count. Collective, and untimed: the seed draws one of the ranks that made look-ups.
  void end() {
    const pgas::SpaceCounters now = space_.counters().since(before_);
    sum_ += now;
    constexpr std::uint64_t kNone = std::numeric_limits<std::uint64_t>::max();
    // The lot of each rank ends in the rank's number, so that no two are alike.
    const std::uint64_t lot =
        (splitmix64(seed_ ^ splitmix64(index(space_.rank()))) & ~std::uint64_t{0xffffffffU}) | index(space_.rank());
    const std::uint64_t drawn = space_.agree(now.lookups != 0 ? lot : kNone).least;
    if (drawn == lot) {
      seeded_lookups_ += now.lookups;
      seeded_hits_ += now.hits;
    }
  }
  void add_to(conduit::Counts& counts) const {
    using conduit::Count;
    counts.add(Count::lookups, sum_.lookups);
    counts.add(Count::hits, sum_.hits);
    counts.add(Count::misses, sum_.misses());
    counts.add(Count::entries, sum_.entries);
    counts.add(Count::pins, sum_.pins);
    counts.add(Count::evictions, sum_.evictions);
    counts.add(Count::invalidations, sum_.invalidations);
    counts.add(Count::remote_accesses, sum_.remote_accesses);
    counts.add(Count::local_accesses, sum_.local_accesses);
    counts.add(Count::waits, sum_.waits_ps / 1000);
    counts.add(Count::seeded_lookups, seeded_lookups_);
    counts.add(Count::seeded_hits, seeded_hits_);
  }

 private:
  pgas::SharedSpace<H>& space_;
  std::uint64_t seed_;
  pgas::SpaceCounters before_;
  pgas::SpaceCounters sum_;
  std::uint64_t seeded_lookups_ = 0;
  std::uint64_t seeded_hits_ = 0;
};

}  // namespace gasmeter::kernels
