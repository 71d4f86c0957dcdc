#include "gasmeter/services/region_table.hpp"

#include <algorithm>
#include <string>

#include "gasmeter/base/error.hpp"

namespace gasmeter::services {

using conduit::Pages;

RegionTable::RegionTable() : regions_(1) {}

std::size_t RegionTable::place_of(RegionNumber region) const {
  return not_behind(regions_[region].pages.first) - 1;  // no two that can be found begin alike
}

RegionNumber RegionTable::insert(const Pages& pages) {
  RegionNumber number = static_cast<RegionNumber>(regions_.size());
  if (spare_.empty()) {
    regions_.emplace_back();
  } else {
    number = spare_.back();
    spare_.pop_back();
  }
  regions_[number] = {pages, 1, false, kUnused, kUnused};
  const auto place = static_cast<std::ptrdiff_t>(not_behind(pages.first));
  firsts_.insert(firsts_.begin() + place, pages.first);
  order_.insert(order_.begin() + place, number);
  ++count_;
  page_count_ += pages.count;
  return number;
}

void RegionTable::hide(RegionNumber region) {
  take_from_order(region);
  regions_[region].hidden = true;
}

void RegionTable::erase(RegionNumber region) {
  if (!regions_[region].hidden) take_from_order(region);
  leave_unused(regions_[region]);
  --count_;
  page_count_ -= regions_[region].pages.count;
  spare_.push_back(region);
}

void RegionTable::take_from_order(RegionNumber region) {
  const auto place = static_cast<std::ptrdiff_t>(place_of(region));
  firsts_.erase(firsts_.begin() + place);
  order_.erase(order_.begin() + place);
}

Pages RegionTable::joined(const Pages& pages) const {
  std::uint64_t first = pages.first;
  std::uint64_t end = pages.end();
  // Ends are in order, too: those that reach `pages` stand together, before those that begin behind its end.
  for (std::size_t i = not_behind(pages.end()); i != 0; --i) {
    const Pages& each = regions_[order_[i - 1]].pages;
    if (each.end() < pages.first) break;
    first = std::min(first, each.first);
    end = std::max(end, each.end());
  }
  return {first, end - first};
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
