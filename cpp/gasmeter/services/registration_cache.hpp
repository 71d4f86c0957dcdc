// Cache of registered memory, real or modelled. Memory stays registered when its use ends, so that its next use costs
// only a look-up.
//
// A region is a run of whole pages that was registered in one step. A use of memory inside one region is a hit. A
// range over several regions is a miss. A miss registers the requested pages or, up to `merged` pages, those and their
// neighbours on both sides as one region. Regions inside the new one are given up: at once, at the next call with
// `deferred`, or when their last use ends.
//
// The end of a use unregisters nothing. When a limit needs room, the regions unused for longest are unregistered.
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

// Requirements on a pinner, which registers pages. It returns no handle if the system refuses, whose limits may be
// below the device's; then nothing was registered.
template <class P>
concept Pinner = requires(P pinner, const conduit::Pages& pages, const typename P::Handle& handle) {
  { pinner.pin(pages) } -> std::same_as<std::optional<typename P::Handle>>;
  pinner.unpin(pages, handle);
};

struct CachePolicy {
  std::uint64_t merged = 0;  // largest region, in pages, that a miss makes by joining others; 0: none
  std::uint64_t kept = std::numeric_limits<std::uint64_t>::max();  // most pages that stay registered without a use
  bool deferred = false;  // replaced regions are unregistered by undo_replaced(), or when their room is needed
};

struct CacheCounters {
  std::uint64_t hits = 0;
  std::uint64_t pins = 0;  // misses that led to a registration
  std::uint64_t pinned_pages = 0;
  std::uint64_t unpins = 0;
  std::uint64_t evictions = 0;  // unpins that made room within a limit
  std::uint64_t refused = 0;    // misses without room beside the memory in use
  std::uint64_t most_pages = 0;
  constexpr bool operator==(const CacheCounters&) const = default;
};

// Only one thread may call a cache. The destructor unregisters nothing; call flush() before.
template <Pinner P>
class RegistrationCache {
 public:
  using Handle = typename P::Handle;

  explicit RegistrationCache(P pinner, const conduit::PinLimits& limits = {}, const CachePolicy& policy = {})
      : pinner_(std::move(pinner)), limits_(limits), policy_(policy) {}
  RegistrationCache(const RegistrationCache&) = delete;
  RegistrationCache& operator=(const RegistrationCache&) = delete;
  ~RegistrationCache() = default;

  // Use memory until release(). Return kNoRegion, and register nothing, if the memory in use leaves no room. Throw
  // UsageError for no pages, and for more than the limit.
  [[nodiscard]] GASMETER_INLINE RegionNumber acquire(const conduit::Pages& asked) {
    const RegionNumber region = table_.find(asked);
    if (GASMETER_UNLIKELY(region == kNoRegion)) return miss(asked);
    table_.use(region);
    ++counters_.hits;
    return region;
  }
  // End a use. Throw UsageError for a region without uses.
  GASMETER_INLINE void release(RegionNumber region) {
    if (!table_.release(region)) return;
    if (GASMETER_UNLIKELY(table_.is_hidden(region))) {
      unpin(region);
    } else if (GASMETER_UNLIKELY(table_.unused_pages() > policy_.kept)) {
      trim();
    }
  }

  // Forget memory that was freed or mapped anew: regions that overlap it are found no more.
  void invalidate(const conduit::Pages& pages) {
    undo_replaced();
    for (const RegionNumber each : table_.overlapping(pages)) give_up(each);
  }
  // Unregister the regions that the last miss replaced, with `deferred`. Every call begins with it except hits and
  // releases. Callers that count hits as calls, too, call it themselves.
  GASMETER_INLINE void undo_replaced() {
    if (GASMETER_UNLIKELY(!replaced_.empty())) unpin_replaced();
  }
  // Unregister all regions without uses.
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

  // Register pages. Room is only made if there will be enough.
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
  // Unregister one region that a new region of these pages replaces; return false if there is none.
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
  std::vector<RegionNumber> replaced_;  // hidden and unused regions, until undo_replaced()
  CacheCounters counters_;
};

}  // namespace gasmeter::services
