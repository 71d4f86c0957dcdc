// Options and counters of kernels on shared spaces.
#pragma once

#include <charconv>
#include <cstdint>
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

// Return the options of a space, and whether a first run, neither timed nor counted, fills caches.
[[nodiscard]] inline std::vector<bench::OptionInfo> space_options() {
  return {{"cache", "choice", "on", "", {"on", "off", "miss"}, "of remote addresses; miss: each access is one"},
          {"capacity", "text", "100", "", {}, "entries of the cache: 1 or more, or unlimited"},
          {"replacement", "choice", "lru", "", {"lru", "random"}, "which entry goes where there is no room"},
          {"cached_puts", "bool", "true", "", {}, "puts use the cache, as gets do"},
          {"pinning", "choice", "everything", "", {"everything", "chunks"}, "of a part at its first touch"},
          {"chunk", "int", "131072", "B", {}, "with pinning=chunks: of a node's part; an entry for each"},
          {"copy_limit", "int", "8192", "B", {}, "uncached accesses of more make a rendezvous, others are copied"},
          {"near", "choice", "direct", "", {"direct", "remote"}, "ranks of a node: through memory, or as all others"},
          {"warm", "bool", "true", "", {}, "a first run fills caches, untimed and uncounted"}};
}

// Tell whether ranks of a node share memory: for Kernel::shares_nodes.
[[nodiscard]] inline bool is_near_direct(const bench::Settings& settings) {
  return settings.text("near") == "direct";
}

// Return the options of a space. Throws UsageError for values that no space can have.
[[nodiscard]] inline pgas::SpaceOptions space_options_of(const bench::Settings& settings) {
  pgas::SpaceOptions options;
  const std::string& cache = settings.text("cache");
  options.cache = cache == "on" ? pgas::CacheUse::on : cache == "miss" ? pgas::CacheUse::miss : pgas::CacheUse::off;
  const std::string& capacity = settings.text("capacity");
  options.capacity = pgas::kUnlimited;
  if (capacity != "unlimited") {
    const auto [end, error] = std::from_chars(capacity.data(), capacity.data() + capacity.size(), options.capacity);
    if (error != std::errc{} || end != capacity.data() + capacity.size() || options.capacity == 0) {
      throw UsageError("option 'capacity=" + capacity + "': allowed are 1 entry or more, and unlimited");
    }
  }
  const auto bytes = [&settings](const char* name, std::int64_t least) {
    const std::int64_t value = settings.integer(name);
    if (value < least || value > std::numeric_limits<std::int32_t>::max()) {
      throw UsageError("option '" + std::string(name) + "=" + settings.text(name) + "': allowed are " +
                       std::to_string(least) + " to 2147483647 B");
    }
    return static_cast<Bytes>(value);
  };
  options.replacement = settings.text("replacement") == "lru" ? pgas::Replacement::lru : pgas::Replacement::random;
  options.cached_puts = settings.flag("cached_puts");
  options.pinning = settings.text("pinning") == "chunks" ? pgas::Pinning::chunks : pgas::Pinning::everything;
  options.chunk = bytes("chunk", 1);
  options.copy_limit = bytes("copy_limit", 0);
  options.near = is_near_direct(settings) ? pgas::Near::direct : pgas::Near::remote;
  options.seed = settings.seed;
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
