#include "gasmeter/services/region_table.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "gasmeter/base/error.hpp"

namespace gasmeter::services {

using conduit::Pages;

// Region 0 holds the ends of the list of unused regions and is never found
RegionTable::RegionTable() : regions_(1), hints_(2, kUnused) {}

std::size_t RegionTable::place_of(RegionNumber region) const {
  return not_behind(regions_[region].pages.first) - 1;  // no two visible regions have the same first page
}

RegionNumber RegionTable::insert(const Pages& pages) {
  RegionNumber number = static_cast<RegionNumber>(regions_.size());
  if (spare_.empty()) {
    regions_.emplace_back();
  } else {
    number = spare_.back();
    spare_.pop_back();
  }
  regions_[number] = {pages, kHidden, 1, kUnused, kUnused};
  const auto place = static_cast<std::ptrdiff_t>(not_behind(pages.first));
  firsts_.insert(firsts_.begin() + place, pages.first);
  order_.insert(order_.begin() + place, number);
  join_at(static_cast<std::size_t>(place));
  join_at(static_cast<std::size_t>(place) + 1);
  add_hints();
  ++count_;
  page_count_ += pages.count;
  return number;
}

void RegionTable::hide(RegionNumber region) {
  take_from_order(region);
}

void RegionTable::erase(RegionNumber region) {
  if (!is_hidden(region)) take_from_order(region);
  leave_unused(regions_[region]);
  --count_;
  page_count_ -= regions_[region].pages.count;
  spare_.push_back(region);
}

void RegionTable::take_from_order(RegionNumber region) {
  const auto place = static_cast<std::ptrdiff_t>(place_of(region));
  firsts_.erase(firsts_.begin() + place);
  order_.erase(order_.begin() + place);
  join_at(static_cast<std::size_t>(place));
  regions_[region].next_first = kHidden;
}

// Link the regions on both sides of a place in the order.
void RegionTable::join_at(std::size_t place) {
  if (place == 0) return;
  regions_[order_[place - 1]].next_first =
      place < firsts_.size() ? firsts_[place] : std::numeric_limits<std::uint64_t>::max();
}

// Add hints, eight per region. Old hints stay, right or wrong.
void RegionTable::add_hints() {
  constexpr std::size_t kEach = 8;
  while (hints_.size() < kEach * firsts_.size() && hints_.size() < std::size_t{1} << kMostHintBits) {
    hints_.resize(2 * hints_.size(), kUnused);
    --hint_shift_;
  }
}

Pages RegionTable::joined(const Pages& pages, std::uint64_t most) const {
  Pages run = pages;
  const auto take = [&](std::uint64_t page) {
    const std::size_t many = not_behind(page);
    if (many == 0) return;
    const Pages& each = regions_[order_[many - 1]].pages;  // if any visible region holds the page, this one does
    const std::uint64_t first = std::min(run.first, each.first);
    const std::uint64_t end = std::max(run.end(), each.end());
    if (each.end() > page && end - first <= most) run = {first, end - first};
  };
  take(pages.end());
  if (pages.first != 0) take(pages.first - 1);
  return run;
}

std::vector<RegionNumber> RegionTable::held_by(const Pages& pages) const {
  std::vector<RegionNumber> held = overlapping(pages);
  std::erase_if(held, [&](RegionNumber each) { return !pages.holds(regions_[each].pages); });
  return held;
}

std::vector<RegionNumber> RegionTable::overlapping(const Pages& pages) const {
  std::vector<RegionNumber> regions;
  if (pages.count == 0) return regions;
  for (std::size_t i = not_behind(pages.end() - 1); i != 0; --i) {
    if (!regions_[order_[i - 1]].pages.overlaps(pages)) break;
    regions.push_back(order_[i - 1]);
  }
  return regions;
}

void RegionTable::refuse_release(RegionNumber region) {
  throw UsageError("registration cache: region " + std::to_string(region) +
                   " is released, which nobody uses; release each use once");
}

}  // namespace gasmeter::services
