// The cache against a plain model that searches all regions, under random programs, and each rule alone.
#include "gasmeter/services/registration_cache.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "support/effort.hpp"

namespace gasmeter::services::registration_cache_test {
namespace {

using conduit::Pages;
using conduit::PinLimits;

// A call to the device.
struct Told {
  bool pin;
  Pages pages;
  bool operator==(const Told&) const = default;
};
using Log = std::vector<Told>;

// A device with room for a number of pages that may be below the cache's limit.
struct Device {
  std::uint64_t room = ~std::uint64_t{0};
  std::uint64_t pages = 0;
  Log log;

  bool pin(const Pages& asked) {
    if (asked.count > room - pages) return false;
    pages += asked.count;
    log.push_back({true, asked});
    return true;
  }
  void unpin(const Pages& gone) {
    pages -= gone.count;
    log.push_back({false, gone});
  }
};

struct Driver {
  using Handle = std::uint64_t;  // the first page, to check that handles stay with their regions
  Device* device;
  std::optional<Handle> pin(const Pages& pages) {
    if (!device->pin(pages)) return std::nullopt;
    return pages.first;
  }
  void unpin(const Pages& pages, const Handle& handle) {
    CHECK(handle == pages.first);
    device->unpin(pages);
  }
};
using Cache = RegistrationCache<Driver>;

// A plain model: one list of regions, searched for every call.
struct Model {
  struct Region {
    std::uint64_t name;
    Pages pages;
    unsigned uses;
    bool hidden;
    std::uint64_t unused_since;
  };
  Device* device;
  PinLimits limits;
  CachePolicy policy;
  std::vector<Region> regions;
  std::vector<std::uint64_t> replaced;  // names of replaced regions
  std::uint64_t regions_made = 0;
  std::uint64_t clock = 0;

  [[nodiscard]] std::uint64_t pages(bool used_only) const {
    std::uint64_t sum = 0;
    for (const Region& each : regions) sum += !used_only || each.uses != 0 ? each.pages.count : 0;
    return sum;
  }
  [[nodiscard]] std::uint64_t used() const {
    return static_cast<std::uint64_t>(
        std::count_if(regions.begin(), regions.end(), [](const Region& each) { return each.uses != 0; }));
  }
  [[nodiscard]] std::size_t place_of(std::uint64_t name) const {
    return static_cast<std::size_t>(
        std::find_if(regions.begin(), regions.end(), [&](const Region& each) { return each.name == name; }) -
        regions.begin());
  }
  void unpin(std::size_t which) {
    device->unpin(regions[which].pages);
    regions.erase(regions.begin() + static_cast<std::ptrdiff_t>(which));
  }
  bool unpin_oldest() {
    std::size_t oldest = regions.size();
    for (std::size_t i = 0; i < regions.size(); ++i) {
      if (regions[i].uses != 0) continue;
      if (oldest == regions.size() || regions[i].unused_since < regions[oldest].unused_since) oldest = i;
    }
    if (oldest == regions.size()) return false;
    unpin(oldest);
    return true;
  }
  // Visit regions from the last in the order of pages, as the cache does.
  template <class Wanted, class Do>
  void each_found(Wanted wanted, Do act) {
    std::vector<std::pair<std::uint64_t, std::uint64_t>> visible;
    for (const Region& each : regions) {
      if (!each.hidden && wanted(each)) visible.emplace_back(each.pages.first, each.name);
    }
    std::sort(visible.rbegin(), visible.rend());
    for (const auto& [first, name] : visible) {
      act(place_of(name));
    }
  }
  // Join `pages` with the region that holds `page`; of several, with the one that begins last.
  [[nodiscard]] Pages joined_by(const Pages& pages, std::uint64_t page) const {
    const Region* neighbour = nullptr;
    for (const Region& each : regions) {
      if (each.hidden || page < each.pages.first || page >= each.pages.end()) continue;
      if (neighbour == nullptr || each.pages.first > neighbour->pages.first) neighbour = &each;
    }
    if (neighbour == nullptr) return pages;
    const std::uint64_t first = std::min(pages.first, neighbour->pages.first);
    const Pages both{first, std::max(pages.end(), neighbour->pages.end()) - first};
    return both.count <= policy.merged ? both : pages;
  }
  void undo_replaced() {
    for (const std::uint64_t name : replaced) unpin(place_of(name));
    replaced.clear();
  }
  std::optional<std::uint64_t> acquire(const Pages& asked) {
    Region* hit = nullptr;
    for (Region& each : regions) {
      if (each.hidden || !each.pages.holds(asked)) continue;
      if (hit == nullptr || each.pages.first > hit->pages.first) hit = &each;
    }
    if (hit != nullptr) {
      ++hit->uses;
      return hit->name;
    }
    undo_replaced();
    const Pages joined = joined_by(joined_by(asked, asked.end()), asked.first - 1);
    if (joined != asked) {
      if (const auto region = pin(joined)) return region;
    }
    return pin(asked);
  }
  // Unpin the held region that begins last.
  bool unpin_held_by(const Pages& asked) {
    const Region* last = nullptr;
    for (const Region& each : regions) {
      if (each.hidden || each.uses != 0 || !asked.holds(each.pages)) continue;
      if (last == nullptr || each.pages.first > last->pages.first) last = &each;
    }
    if (last == nullptr) return false;
    unpin(place_of(last->name));
    return true;
  }
  std::optional<std::uint64_t> pin(const Pages& asked) {
    if (limits.pages != 0 && pages(true) + asked.count > limits.pages) return std::nullopt;
    if (limits.regions != 0 && used() + 1 > limits.regions) return std::nullopt;
    while (!policy.deferred && unpin_held_by(asked)) {
    }
    while ((limits.pages != 0 && pages(false) + asked.count > limits.pages) ||
           (limits.regions != 0 && regions.size() + 1 > limits.regions)) {
      REQUIRE((unpin_held_by(asked) || unpin_oldest()));
    }
    bool pinned = device->pin(asked);
    while (!pinned && (unpin_held_by(asked) || unpin_oldest())) pinned = device->pin(asked);
    if (!pinned) return std::nullopt;
    each_found([&](const Region& each) { return asked.holds(each.pages); },
               [&](std::size_t which) {
                 regions[which].hidden = true;
                 if (regions[which].uses == 0) replaced.push_back(regions[which].name);
               });
    regions.push_back({regions_made, asked, 1, false, 0});
    return regions_made++;
  }
  void release(std::uint64_t name) {
    const auto region =
        std::find_if(regions.begin(), regions.end(), [&](const Region& each) { return each.name == name; });
    REQUIRE(region != regions.end());
    if (--region->uses != 0) return;
    region->unused_since = ++clock;
    if (region->hidden) {
      unpin(static_cast<std::size_t>(region - regions.begin()));
    } else {
      if (pages(false) - pages(true) > policy.kept) undo_replaced();
      while (pages(false) - pages(true) > policy.kept) REQUIRE(unpin_oldest());
    }
  }
  void invalidate(const Pages& gone) {
    undo_replaced();
    each_found([&](const Region& each) { return each.pages.overlaps(gone); },
               [&](std::size_t which) {
                 if (regions[which].uses != 0) {
                   regions[which].hidden = true;
                 } else {
                   unpin(which);
                 }
               });
  }
};

TEST_CASE("the_cache_agrees_with_a_list_that_is_looked_through_whatever_a_program_uses") {
  std::uint64_t hits = 0;
  std::uint64_t refused = 0;
  std::uint64_t merged = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    const auto below = [&](std::uint64_t end) { return random() % end; };
    PinLimits limits;
    if (seed % 3 != 0) limits.pages = 8 + below(60);
    if (seed % 2 != 0) limits.regions = 1 + below(12);
    CachePolicy policy;
    if (seed % 4 >= 2) policy.merged = 2 + below(30);
    policy.deferred = seed % 8 >= 5;
    if (seed % 5 == 0) policy.kept = below(20);
    Device device{seed % 7 == 0 ? 8 + below(30) : ~std::uint64_t{0}, 0, {}};
    Device expected{device.room, 0, {}};
    Cache cache(Driver{&device}, limits, policy);
    Model model{&expected, limits, policy, {}, {}, 0, 0};
    const std::uint64_t memory = 10 + below(200);
    const std::uint64_t most_asked = std::min<std::uint64_t>(limits.pages == 0 ? 12 : limits.pages, 1 + below(12));
    const std::uint64_t most_used = 1 + below(8);
    std::vector<std::pair<RegionNumber, std::uint64_t>> used;
    const std::uint64_t steps = testing::rounds(1500);
    for (std::uint64_t step = 0; step < steps; ++step) {
      const Pages asked{below(memory), 1 + below(most_asked)};
      const std::uint64_t action = below(100);
      if (action < 2) {
        cache.invalidate(asked);
        model.invalidate(asked);
      } else if (action < 4) {
        cache.undo_replaced();
        model.undo_replaced();
      } else if (action < 50 && used.size() < most_used) {
        const RegionNumber region = cache.acquire(asked);
        const std::optional<std::uint64_t> name = model.acquire(asked);
        REQUIRE((region == kNoRegion) == !name.has_value());
        if (name) {
          CHECK(cache.pages(region).holds(asked));
          CHECK(cache.handle(region) == cache.pages(region).first);
          used.emplace_back(region, *name);
        }
      } else if (!used.empty()) {
        std::swap(used[below(used.size())], used.back());
        cache.release(used.back().first);
        model.release(used.back().second);
        used.pop_back();
      }
      REQUIRE(device.log == expected.log);
      if (device.log.size() > 1000) {
        device.log.clear();
        expected.log.clear();
      }
      CHECK(cache.pinned_pages() == device.pages);
      CHECK(cache.pinned_regions() == model.regions.size());
      CHECK((limits.pages == 0 || device.pages <= limits.pages));
      CHECK((limits.regions == 0 || cache.pinned_regions() <= limits.regions));
    }
    for (const auto& [region, name] : used) cache.release(region);
    cache.flush();
    CHECK(device.pages == 0);
    CHECK(cache.counters().pins == cache.counters().unpins);
    hits += cache.counters().hits;
    refused += cache.counters().refused;
    merged += policy.merged != 0 ? cache.counters().pins : 0;
  }
  CHECK((hits > 0 && refused > 0 && merged > 0));  // the programs have met all cases
}

struct Fixture {
  Device device;
  Driver driver{&device};
  void use(Cache& cache, const Pages& pages) {
    const RegionNumber region = cache.acquire(pages);
    REQUIRE(region != kNoRegion);
    cache.release(region);
  }
};

TEST_CASE_FIXTURE(Fixture, "what_has_been_unused_for_longest_makes_room") {
  Cache cache(driver, {.pages = 3});
  for (const std::uint64_t page : {10U, 20U, 30U, 10U, 40U}) use(cache, {page, 1});
  CHECK(device.log == Log{{true, {10, 1}}, {true, {20, 1}}, {true, {30, 1}}, {false, {20, 1}}, {true, {40, 1}}});
  CHECK(cache.counters() ==
        CacheCounters{.hits = 1, .pins = 4, .pinned_pages = 4, .unpins = 1, .evictions = 1, .most_pages = 3});
}

TEST_CASE_FIXTURE(Fixture, "a_miss_joins_what_it_meets_up_to_the_longest_region") {
  Cache cache(driver, {}, {.merged = 4});
  use(cache, {10, 2});
  const RegionNumber used = cache.acquire({12, 1});  // meets the first region: 3 pages
  CHECK(device.log == Log{{true, {10, 2}}, {false, {10, 2}}, {true, {10, 3}}});
  device.log.clear();
  // Overlaps the region in use: the new one is found from now on, the old one is unpinned after its use.
  use(cache, {12, 2});
  CHECK(device.log == Log{{true, {10, 4}}});
  cache.release(used);
  CHECK(device.log.back() == Told{false, {10, 3}});
  device.log.clear();
  use(cache, {13, 2});  // 5 pages would be too long
  CHECK(device.log == Log{{true, {13, 2}}});
}

TEST_CASE_FIXTURE(Fixture,
                  "a_miss_between_neighbours_joins_the_one_behind_and_then_the_one_before_as_far_as_they_fit") {
  Cache cache(driver, {}, {.merged = 4});
  use(cache, {8, 2});
  use(cache, {11, 2});
  device.log.clear();
  use(cache, {10, 1});  // all three regions would make 5 pages; with the one behind they are 3
  CHECK(device.log == Log{{false, {11, 2}}, {true, {10, 3}}});
  use(cache, {7, 1});
  CHECK(device.log.back() == Told{true, {7, 3}});
  use(cache, {6, 1});  // with the region of three pages that begins at 7; there is none before
  CHECK(device.log.back() == Told{true, {6, 4}});
}

TEST_CASE_FIXTURE(Fixture, "what_is_replaced_goes_at_the_next_call_where_that_is_deferred") {
  Cache cache(driver, {.regions = 2}, {.merged = 8, .deferred = true});
  use(cache, {10, 2});
  const RegionNumber longer = cache.acquire({12, 1});
  CHECK(device.log == Log{{true, {10, 2}}, {true, {10, 3}}});
  CHECK(cache.pinned_regions() == 2);  // a replaced region counts as long as it is pinned
  CHECK(cache.acquire({10, 1}) == longer);
  CHECK(device.pages == 5);
  cache.undo_replaced();
  CHECK(device.log.back() == Told{false, {10, 2}});
  device.log.clear();
  use(cache, {20, 1});
  use(cache, {21, 1});  // no room for both: the replaced region is unpinned first
  CHECK(device.log == Log{{true, {20, 1}}, {false, {20, 1}}, {true, {20, 2}}});
  CHECK(cache.counters().evictions == 0);
}

TEST_CASE_FIXTURE(Fixture, "pages_beyond_the_limit_are_refused_with_nothing_changed") {
  Cache cache(driver, {.page = 4096, .pages = 4, .regions = 2});
  use(cache, {1, 1});
  CHECK_THROWS_WITH_AS((void)cache.acquire({8, 5}),
                       "registration cache: 5 pages of 4096 B are to be pinned at once; the device holds at most 4: "
                       "transfer less at a time, or raise the limit",
                       UsageError);
  CHECK_THROWS_AS((void)cache.acquire({8, 0}), UsageError);
  const RegionNumber triple = cache.acquire({20, 3});
  const Log before = device.log;
  CHECK(cache.acquire({30, 2}) == kNoRegion);  // 3 pages are in use; the fourth, which is unused, stays
  CHECK(device.log == before);
  const RegionNumber single = cache.acquire({1, 1});
  CHECK(cache.acquire({40, 1}) == kNoRegion);  // two regions are in use
  cache.release(single);
  cache.release(triple);
  CHECK_THROWS_WITH_AS(cache.release(triple),
                       ("registration cache: region " + std::to_string(triple) +
                        " is released, which nobody uses; release each use once")
                           .c_str(),
                       UsageError);
}

TEST_CASE_FIXTURE(Fixture, "memory_that_is_freed_is_registered_anew") {
  Cache cache(driver);
  const RegionNumber used = cache.acquire({10, 2});
  use(cache, {20, 2});
  cache.invalidate({11, 10});
  CHECK(device.log.back() == Told{false, {20, 2}});
  use(cache, {10, 1});
  CHECK(device.log.back() == Told{true, {10, 1}});
  cache.release(used);
  CHECK(device.log.back() == Told{false, {10, 2}});
}

TEST_CASE_FIXTURE(Fixture, "a_page_that_was_found_before_is_found_where_regions_have_changed_since") {
  Cache cache(driver);
  for (const std::uint64_t page : {100U, 200U}) use(cache, {page, 1});  // the fourth region needs no more hints
  const RegionNumber first = cache.acquire({0, 10});
  CHECK(cache.acquire({5, 1}) == first);
  const RegionNumber second = cache.acquire({4, 12});
  CHECK(cache.acquire({5, 1}) == second);  // of two regions, the one that begins last
  cache.invalidate({12, 1});
  CHECK(cache.acquire({5, 1}) == first);
  cache.invalidate({0, 1});
  const RegionNumber third = cache.acquire({5, 1});
  CHECK(device.log.back() == Told{true, {5, 1}});
  CHECK(cache.acquire({5, 1}) == third);
  use(cache, {3, 1});
  CHECK(device.log.back() == Told{true, {3, 1}});
  CHECK(cache.acquire({5, 1}) == third);
}

TEST_CASE_FIXTURE(Fixture, "without_kept_pages_every_last_release_unregisters") {
  Cache cache(driver, {}, {.kept = 0});
  const RegionNumber first = cache.acquire({10, 2});
  const RegionNumber second = cache.acquire({11, 1});
  CHECK(first == second);
  cache.release(first);
  CHECK(device.pages == 2);
  cache.release(second);
  CHECK(device.pages == 0);
}

TEST_CASE("memory_lies_in_whole_pages") {
  CHECK(conduit::pages_of(8192, 1) == Pages{2, 1});
  CHECK(conduit::pages_of(8191, 2) == Pages{1, 2});
  CHECK(conduit::pages_of(4096, 8192) == Pages{1, 2});
  CHECK(conduit::pages_of(4097, 8192) == Pages{1, 3});
  CHECK(conduit::pages_of(5000, 0).count == 0);
}

}  // namespace
}  // namespace gasmeter::services::registration_cache_test
