// Registered memory that stays registered when its use ends, so that the next use of it costs a look-up: the cache of
// every network whose devices want memory registered, real or modelled.
//
// A region is a run of whole pages that was registered in one go. Using memory that lies in a region is a hit. A miss
// registers the pages that were asked for or, up to `merged` pages, those and their neighbours on both sides as one;
// what the new region holds is given up: at once (at the next call, if that is `deferred`), or when its last use ends.
// Ending a use unregisters nothing: regions that nobody uses go, the one that has been unused for longest first, when a
// limit wants it. A range that reaches over several regions is a miss.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gasmeter/base/error.hpp"
#include "gasmeter/base/platform.hpp"
#include "gasmeter/conduit/pages.hpp"
#include "gasmeter/services/region_table.hpp"

namespace gasmeter::services {

// Who registers. No handle: refused (a real system's limits may be less than a device's); nothing was registered.
template <class P>
concept Pinner = requires(P pinner, const conduit::Pages& pages, const typename P::Handle& handle) {
  { pinner.pin(pages) } -> std::same_as<std::optional<typename P::Handle>>;
  pinner.unpin(pages, handle);
};

struct CachePolicy {
  std::uint64_t merged = 0;  // pages of the longest region that a miss makes of others; 0: none
  std::uint64_t kept = std::numeric_limits<std::uint64_t>::max();  // pages that stay registered unused
  bool deferred = false;  // what a new region replaces is unregistered by undo_replaced(), unless its room is wanted
};

struct CacheCounters {
  std::uint64_t hits = 0;
  std::uint64_t pins = 0;  // misses that were registered
  std::uint64_t pinned_pages = 0;
  std::uint64_t unpins = 0;
  std::uint64_t evictions = 0;  // of those, for a limit's sake
  std::uint64_t refused = 0;    // what is in use left no room
  std::uint64_t most_pages = 0;
  constexpr bool operator==(const CacheCounters&) const = default;
};

// Of one thread. Its end unregisters nothing: flush() does.
template <Pinner P>
class RegistrationCache {
 public:
  using Handle = typename P::Handle;

  explicit RegistrationCache(P pinner, const conduit::PinLimits& limits = {}, const CachePolicy& policy = {})
      : pinner_(std::move(pinner)), limits_(limits), policy_(policy) {}
  RegistrationCache(const RegistrationCache&) = delete;
  RegistrationCache& operator=(const RegistrationCache&) = delete;
  ~RegistrationCache() = default;

  // A use of memory, until release(). kNoRegion: what others use leaves no room; nothing was registered. Throws
  // UsageError for no pages, and for more than the limit.
  [[nodiscard]] GASMETER_INLINE RegionNumber acquire(const conduit::Pages& asked) {
    const RegionNumber found = table_.find(asked);
    if (GASMETER_UNLIKELY(found == kNoRegion)) return miss(asked);
    table_.use(found);
    ++counters_.hits;
    return found;
  }
  // Throws UsageError for a region that nobody uses.
  GASMETER_INLINE void release(RegionNumber region) {
    if (!table_.release(region)) return;
    if (GASMETER_UNLIKELY(table_.is_hidden(region))) {
      unpin(region);
    } else if (GASMETER_UNLIKELY(table_.unused_pages() > policy_.kept)) {
      trim();
    }
  }

  // The memory is no longer what it was (freed, mapped anew): regions that overlap it are not found again.
  void invalidate(const conduit::Pages& pages) {
    undo_replaced();
    for (const RegionNumber each : table_.overlapping(pages)) give_up(each);
  }
  // Unregisters what `deferred` has left of the last miss: for whoever counts hits as calls, too. All but hits and
  // releases begin with it.
  GASMETER_INLINE void undo_replaced() {
    if (GASMETER_UNLIKELY(!replaced_.empty())) unpin_replaced();
  }
  // Unregisters all that nobody uses.
  void flush() {
    undo_replaced();
    while (unpin_oldest()) {
    }
  }

  [[nodiscard]] const Handle& handle(RegionNumber region) const { return handles_[region]; }
  [[nodiscard]] const conduit::Pages& pages(RegionNumber region) const { return table_.pages(region); }
  [[nodiscard]] const CacheCounters& counters() const { return counters_; }
  [[nodiscard]] std::uint64_t pinned_regions() const { return table_.regions(); }
  [[nodiscard]] std::uint64_t pinned_pages() const { return table_.page_count(); }
  [[nodiscard]] P& pinner() { return pinner_; }

 private:
  [[nodiscard]] static bool fits(std::uint64_t many, std::uint64_t limit) { return limit == 0 || many <= limit; }

  GASMETER_NOINLINE RegionNumber miss(const conduit::Pages& asked) {
    if (asked.count == 0) throw UsageError("registration cache: no pages are to be pinned; 1 or more are allowed");
    if (!fits(asked.count, limits_.pages)) {
      throw UsageError("registration cache: " + std::to_string(asked.count) + " pages of " +
                       std::to_string(limits_.page) + " B are to be pinned at once; the device holds at most " +
                       std::to_string(limits_.pages) + ": transfer less at a time, or raise the limit");
    }
    undo_replaced();
    const conduit::Pages joined = table_.joined(asked, policy_.merged);
    if (joined != asked) {
      const RegionNumber region = pin(joined);
      if (region != kNoRegion) return region;
    }
    const RegionNumber region = pin(asked);
    if (region == kNoRegion) ++counters_.refused;
    return region;
  }

  // Makes room only where there will be enough.
  [[nodiscard]] RegionNumber pin(const conduit::Pages& pages) {
    const std::uint64_t used_pages = table_.page_count() - table_.unused_pages();
    const std::uint64_t used_regions = table_.regions() - table_.unused_regions();
    if (!fits(used_pages + pages.count, limits_.pages) || !fits(used_regions + 1, limits_.regions)) return kNoRegion;
    while (!policy_.deferred && unpin_held_by(pages)) {
    }
    while (!fits(table_.page_count() + pages.count, limits_.pages) || !fits(table_.regions() + 1, limits_.regions)) {
      (void)(unpin_held_by(pages) || evict());
    }
    std::optional<Handle> handle = pinner_.pin(pages);
    while (!handle && (unpin_held_by(pages) || evict())) handle = pinner_.pin(pages);
    if (!handle) return kNoRegion;
    for (const RegionNumber each : table_.held_by(pages)) {
      table_.hide(each);
      if (!table_.is_used(each)) replaced_.push_back(each);
    }
    const RegionNumber region = table_.insert(pages);
    if (region >= handles_.size()) handles_.resize(region + std::size_t{1});
    handles_[region] = std::move(*handle);
    ++counters_.pins;
    counters_.pinned_pages += pages.count;
    counters_.most_pages = std::max(counters_.most_pages, table_.page_count());
    return region;
  }

  void give_up(RegionNumber region) {
    if (table_.is_used(region)) {
      table_.hide(region);
    } else {
      unpin(region);
    }
  }
  // One of those that a region of these pages replaces.
  bool unpin_held_by(const conduit::Pages& pages) {
    for (const RegionNumber each : table_.held_by(pages)) {
      if (table_.is_used(each)) continue;
      unpin(each);
      return true;
    }
    return false;
  }
  GASMETER_NOINLINE void unpin_replaced() {
    for (const RegionNumber each : replaced_) unpin(each);
    replaced_.clear();
  }
  bool evict() {
    if (!unpin_oldest()) return false;
    ++counters_.evictions;
    return true;
  }
  bool unpin_oldest() {
    const RegionNumber oldest = table_.oldest_unused();
    if (oldest == kNoRegion) return false;
    unpin(oldest);
    return true;
  }
  void unpin(RegionNumber region) {
    pinner_.unpin(table_.pages(region), handles_[region]);
    table_.erase(region);
    ++counters_.unpins;
  }
  GASMETER_NOINLINE void trim() {
    undo_replaced();
    while (table_.unused_pages() > policy_.kept) (void)evict();
  }

  P pinner_;
  conduit::PinLimits limits_;
  CachePolicy policy_;
  RegionTable table_;
  std::vector<Handle> handles_;         // by region
  std::vector<RegionNumber> replaced_;  // hidden and unused, until undo_replaced()
  CacheCounters counters_;
};

}  // namespace gasmeter::services
