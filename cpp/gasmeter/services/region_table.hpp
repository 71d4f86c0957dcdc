// Which runs of pages are registered, who uses them, and which of them nobody has used for longest.
//
// Only a table: it registers nothing (registration_cache.hpp does). What it answers depends on the calls alone, so that
// a modelled cache hits in every process alike.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "gasmeter/base/platform.hpp"
#include "gasmeter/conduit/pages.hpp"

namespace gasmeter::services {

// Names a region from insert() to erase().
using RegionNumber = std::uint32_t;
inline constexpr RegionNumber kNoRegion = ~RegionNumber{0};

// Regions may overlap, but none that can be found holds another: in the order of their first pages they stand in that
// of their ends, too. Hence a range can only lie in the last one that does not begin behind it, or in an earlier one
// that ends sooner, which does not hold it either.
//
// Each region knows where the next one begins, so that one look tells whether it is that last one. A page's hint names
// the one that was, when somebody asked last: what is used again and again needs no search, and a hint that is wrong
// costs one.
class RegionTable {
 public:
  RegionTable();

  // The region that holds `asked`: of several the one that begins last. Allocates nothing.
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
  // Whether it was the last use. Throws UsageError for a region that nobody uses.
  GASMETER_INLINE bool release(RegionNumber region) {
    Region& used = regions_[region];
    if (GASMETER_UNLIKELY(used.uses == 0)) refuse_release(region);
    if (--used.uses != 0) return false;
    join_unused(region, used);
    return true;
  }

  // Used once from now on. No region that can be found may hold it, nor it one.
  [[nodiscard]] RegionNumber insert(const conduit::Pages& pages);
  // It stays, but is found no longer.
  void hide(RegionNumber region);
  // One that nobody uses.
  void erase(RegionNumber region);

  [[nodiscard]] const conduit::Pages& pages(RegionNumber region) const { return regions_[region].pages; }
  [[nodiscard]] bool is_used(RegionNumber region) const { return regions_[region].uses != 0; }
  [[nodiscard]] bool is_hidden(RegionNumber region) const { return regions_[region].next_first == kHidden; }

  // Unused for longest; kNoRegion: all are used.
  [[nodiscard]] RegionNumber oldest_unused() const {
    return regions_[kUnused].next == kUnused ? kNoRegion : regions_[kUnused].next;
  }
  // `pages` and, of those that can be found, the region that holds the page behind them, then the one that holds the
  // page before them, as one run: each as far as the run has no more than `most` pages with it.
  [[nodiscard]] conduit::Pages joined(const conduit::Pages& pages, std::uint64_t most) const;
  // Of those that can be found: which `pages` holds, or overlaps.
  [[nodiscard]] std::vector<RegionNumber> held_by(const conduit::Pages& pages) const;
  [[nodiscard]] std::vector<RegionNumber> overlapping(const conduit::Pages& pages) const;

  // Of all there are, also hidden ones.
  [[nodiscard]] std::uint64_t regions() const { return count_; }
  [[nodiscard]] std::uint64_t page_count() const { return page_count_; }
  [[nodiscard]] std::uint64_t unused_regions() const { return unused_; }
  [[nodiscard]] std::uint64_t unused_pages() const { return unused_page_count_; }

 private:
  static constexpr RegionNumber kUnused = 0;  // the two ends of the list of those that nobody uses

  static constexpr std::uint64_t kHidden = 0;  // no region is behind another there
  static constexpr std::uint64_t kScatter = 0x9e3779b97f4a7c15U;
  static constexpr unsigned kMostHintBits = 16;

  // A line of the processor's cache.
  struct alignas(64) Region {
    conduit::Pages pages;
    std::uint64_t next_first = kHidden;  // where the next one that can be found begins; or it cannot be found itself
    std::uint32_t uses = 0;
    RegionNumber next = kUnused;  // in that list, which begins with the oldest
    RegionNumber previous = kUnused;
  };
  // Of those that can be found and do not begin behind `page`, the one that begins last.
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
  // How many begin at `page` or before. Compilers make a branch of `? :` here, which is guessed wrong half of the time.
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
  // Of those that can be found, in order: their first pages, which searches read, and their numbers.
  std::vector<std::uint64_t> firsts_;
  std::vector<RegionNumber> order_;
  mutable std::vector<RegionNumber> hints_;  // by pages scattered over them
  unsigned hint_shift_ = 63;
  std::uint64_t count_ = 0;
  std::uint64_t page_count_ = 0;
  std::uint64_t unused_ = 0;
  std::uint64_t unused_page_count_ = 0;
};

}  // namespace gasmeter::services
