// Table of registered runs of pages, their uses, and the order in which unused ones were last used.
//
// The table registers nothing itself (registration_cache.hpp does). Its answers depend on the calls alone, so that a
// modelled cache hits alike in every process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "gasmeter/base/platform.hpp"
#include "gasmeter/conduit/pages.hpp"

namespace gasmeter::services {

// Identifies a region from insert() to erase().
using RegionNumber = std::uint32_t;
inline constexpr RegionNumber kNoRegion = ~RegionNumber{0};

// Regions may overlap, but no visible region holds another one: the order of their first pages is also the order of
// their ends. A range can therefore only lie in the last region that does not begin behind it. An earlier region ends
// sooner and does not hold the range either.
//
// Each region knows where the next one begins, so that one comparison tells whether it is that last region. A page's
// hint is the region found for it last. Repeated uses therefore need no search, and a wrong hint costs one.
class RegionTable {
 public:
  RegionTable();

  // Return the region that holds `asked`; of several, the one that begins last. The call allocates nothing.
  [[nodiscard]] GASMETER_INLINE RegionNumber find(const conduit::Pages& asked) const {
    RegionNumber& hint = hints_[(asked.first * kScatter) >> hint_shift_];
    RegionNumber last = hint;
    if (GASMETER_UNLIKELY(!is_last(regions_[last], asked.first))) {
      const std::size_t many = not_behind(asked.first);
      if (many == 0) return kNoRegion;
      hint = last = order_[many - 1];
    }
    return regions_[last].pages.end() < asked.end() ? kNoRegion : last;
  }
  GASMETER_INLINE void use(RegionNumber region) {
    Region& used = regions_[region];
    if (used.uses++ == 0) leave_unused(used);
  }
  // End a use; return whether it was the last. Throw UsageError for a region without uses.
  GASMETER_INLINE bool release(RegionNumber region) {
    Region& used = regions_[region];
    if (GASMETER_UNLIKELY(used.uses == 0)) refuse_release(region);
    if (--used.uses != 0) return false;
    join_unused(region, used);
    return true;
  }

  // Add a region with one use. No visible region may hold it, nor may it hold a visible one.
  [[nodiscard]] RegionNumber insert(const conduit::Pages& pages);
  // Keep the region, but find it no longer.
  void hide(RegionNumber region);
  // Remove a region without uses.
  void erase(RegionNumber region);

  [[nodiscard]] const conduit::Pages& pages(RegionNumber region) const { return regions_[region].pages; }
  [[nodiscard]] bool is_used(RegionNumber region) const { return regions_[region].uses != 0; }
  [[nodiscard]] bool is_hidden(RegionNumber region) const { return regions_[region].next_first == kHidden; }

  // Return the region unused for longest; kNoRegion: all are in use.
  [[nodiscard]] RegionNumber oldest_unused() const {
    return regions_[kUnused].next == kUnused ? kNoRegion : regions_[kUnused].next;
  }
  // Return one run of `pages`, of the visible region that holds the page behind them, and of the visible region that
  // holds the page before them. Each region joins, in this order, only if the run has at most `most` pages with it.
  [[nodiscard]] conduit::Pages joined(const conduit::Pages& pages, std::uint64_t most) const;
  // Return the visible regions that `pages` holds, or overlaps.
  [[nodiscard]] std::vector<RegionNumber> held_by(const conduit::Pages& pages) const;
  [[nodiscard]] std::vector<RegionNumber> overlapping(const conduit::Pages& pages) const;

  // Totals of all regions, hidden ones included.
  [[nodiscard]] std::uint64_t regions() const { return count_; }
  [[nodiscard]] std::uint64_t page_count() const { return page_count_; }
  [[nodiscard]] std::uint64_t unused_regions() const { return unused_; }
  [[nodiscard]] std::uint64_t unused_pages() const { return unused_page_count_; }

 private:
  static constexpr RegionNumber kUnused = 0;  // both ends of the list of unused regions

  static constexpr std::uint64_t kHidden = 0;  // marks a hidden region; no region can follow another at page 0
  static constexpr std::uint64_t kScatter = 0x9e3779b97f4a7c15U;
  static constexpr unsigned kMostHintBits = 16;

  // Fills one line of the processor's cache.
  struct alignas(64) Region {
    conduit::Pages pages;
    std::uint64_t next_first = kHidden;  // first page of the next visible region; kHidden: this region is hidden
    std::uint32_t uses = 0;
    RegionNumber next = kUnused;  // in the list of unused regions, which begins with the oldest
    RegionNumber previous = kUnused;
  };
  // Tell whether a region is the last visible one that does not begin behind `page`.
  [[nodiscard]] GASMETER_INLINE static bool is_last(const Region& region, std::uint64_t page) {
    return region.pages.first <= page && page < region.next_first;
  }
  GASMETER_INLINE void leave_unused(const Region& region) {
    regions_[region.previous].next = region.next;
    regions_[region.next].previous = region.previous;
    --unused_;
    unused_page_count_ -= region.pages.count;
  }
  GASMETER_INLINE void join_unused(RegionNumber number, Region& region) {
    Region& ends = regions_[kUnused];
    region.next = kUnused;
    region.previous = ends.previous;
    regions_[ends.previous].next = number;
    ends.previous = number;
    ++unused_;
    unused_page_count_ += region.pages.count;
  }
  // Return how many regions begin at `page` or before. The arithmetic replaces `? :`, from which compilers make a
  // branch that is mispredicted half of the time.
  [[nodiscard]] GASMETER_INLINE std::size_t not_behind(std::uint64_t page) const {
    const std::uint64_t* base = firsts_.data();
    std::size_t left = firsts_.size();
    while (left > 1) {
      const std::size_t half = left / 2;
      base += half & (std::size_t{0} - static_cast<std::size_t>(base[half - 1] <= page));
      left -= half;
    }
    const auto passed = static_cast<std::size_t>(base - firsts_.data());
    return passed + (left == 1 && *base <= page ? 1 : 0);
  }
  [[nodiscard]] std::size_t place_of(RegionNumber region) const;
  void take_from_order(RegionNumber region);
  void join_at(std::size_t place);
  void add_hints();
  [[noreturn]] static void refuse_release(RegionNumber region);

  std::vector<Region> regions_;  // by number
  std::vector<RegionNumber> spare_;
  // Visible regions in order: their first pages, which searches read, and their numbers.
  std::vector<std::uint64_t> firsts_;
  std::vector<RegionNumber> order_;
  mutable std::vector<RegionNumber> hints_;  // indexed by a hash of the page
  unsigned hint_shift_ = 63;
  std::uint64_t count_ = 0;
  std::uint64_t page_count_ = 0;
  std::uint64_t unused_ = 0;
  std::uint64_t unused_page_count_ = 0;
};

}  // namespace gasmeter::services
