#include "gasmeter/pgas/access/address_cache.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <list>
#include <optional>
#include <vector>

#include "gasmeter/base/random.hpp"
#include "support/effort.hpp"

namespace gasmeter::pgas::address_cache_test {
namespace {

using Key = AddressCache::Key;

// A plain cache, ordered by recent use. Without a limit no order is needed, and entries stay in the order of
// insertion.
class Model {
 public:
  explicit Model(std::size_t capacity) : capacity_(capacity) {}
  std::optional<Bytes> find(const Key& key) {
    const auto at = used(key);
    if (at == entries_.end()) return std::nullopt;
    return at->base;
  }
  bool insert(const AddressCache::Entry& entry) {
    if (const auto at = used(entry.key); at != entries_.end()) {
      *at = entry;
      return false;
    }
    const bool evicts = entries_.size() == capacity_;
    if (evicts) entries_.pop_back();
    entries_.push_front(entry);
    return evicts;
  }
  std::size_t erase(std::uint64_t object) {
    return entries_.remove_if([&](const auto& each) { return each.key.object == object; });
  }
  [[nodiscard]] const std::list<AddressCache::Entry>& entries() const { return entries_; }

 private:
  std::list<AddressCache::Entry>::iterator used(const Key& key) {
    const auto at = std::find_if(entries_.begin(), entries_.end(), [&](const auto& each) { return each.key == key; });
    if (at != entries_.end() && capacity_ != kUnlimited) entries_.splice(entries_.begin(), entries_, at);
    return at;
  }

  std::size_t capacity_;
  std::list<AddressCache::Entry> entries_;
};

void compare(const AddressCache& cache, const Model& model) {
  std::vector<Key> keys;
  cache.for_each([&](const AddressCache::Entry& entry) { keys.push_back(entry.key); });
  std::vector<Key> expected;
  for (const AddressCache::Entry& entry : model.entries()) expected.push_back(entry.key);
  REQUIRE(keys == expected);
  REQUIRE(cache.size() == expected.size());
}

void act_at_random(std::uint32_t capacity, std::uint64_t seed) {
  AddressCache cache(capacity, Replacement::lru, seed);
  Model model(capacity);
  std::uint64_t random = seed;
  const auto below = [&random](std::uint64_t bound) { return (random = splitmix64(random)) % bound; };
  for (int step = 0; step < 2000; ++step) {
    const Key key{below(9) << 32 | below(3), static_cast<std::uint32_t>(below(20)),
                  static_cast<std::uint32_t>(below(2))};
    const std::uint64_t act = below(20);
    if (act == 0) {
      CHECK(cache.erase(key.object) == model.erase(key.object));
    } else if (act < 8) {
      const AddressCache::Entry entry{key, below(1000), 1000 + below(1000)};
      CHECK(cache.insert(entry) == model.insert(entry));
    } else {
      const AddressCache::Entry* const entry = cache.find(key);
      const std::optional<Bytes> expected = model.find(key);
      REQUIRE((entry != nullptr) == expected.has_value());
      if (entry != nullptr) CHECK(entry->base == *expected);
    }
    if (step % 50 == 0) compare(cache, model);
  }
  compare(cache, model);
}

TEST_CASE("cache_does_what_a_list_of_recent_entries_does") {
  for (std::uint64_t seed = 1; seed <= testing::rounds(4); ++seed) {
    for (const std::uint32_t capacity : {1U, 2U, 4U, 31U, 100U, kUnlimited}) {
      CAPTURE(capacity);
      act_at_random(capacity, seed);
    }
  }
}

TEST_CASE("full_cache_loses_the_entry_that_was_unused_for_longest") {
  AddressCache cache(3, Replacement::lru, 0);
  for (std::uint32_t node = 0; node < 3; ++node) CHECK_FALSE(cache.insert({{7, node, 0}, node, 1}));
  REQUIRE(cache.find({7, 0, 0}) != nullptr);
  CHECK(cache.insert({{7, 3, 0}, 3, 1}));
  CHECK(cache.find({7, 1, 0}) == nullptr);
  CHECK(cache.find({7, 0, 0}) != nullptr);
  CHECK(cache.size() == 3);
}

TEST_CASE("random_replacement_takes_any_entry_and_the_same_with_the_same_seed") {
  std::vector<std::vector<std::uint32_t>> left;
  for (const std::uint64_t seed : {1U, 1U, 2U}) {
    AddressCache cache(50, Replacement::random, seed);
    for (std::uint32_t node = 0; node < 500; ++node) {
      CHECK(cache.insert({{1, node, 0}, node, 1}) == (node >= 50));
      REQUIRE(cache.find({1, node, 0}) != nullptr);  // the new entry is never the victim
    }
    CHECK(cache.size() == 50);
    std::vector<std::uint32_t> nodes;
    cache.for_each([&](const AddressCache::Entry& entry) {
      CHECK(entry.base == entry.key.node);
      nodes.push_back(entry.key.node);
    });
    std::sort(nodes.begin(), nodes.end());
    left.push_back(nodes);
  }
  CHECK(left[0] == left[1]);
  CHECK(left[0] != left[2]);
  CHECK(left[0].front() < 440);  // random victims, not only the oldest entries
}

TEST_CASE("cache_without_entries_takes_no_memory_worth_mention") {
  AddressCache cache(100, Replacement::lru, 0);
  CHECK(cache.find({1, 1, 1}) == nullptr);
  CHECK(cache.erase(1) == 0);
  CHECK(sizeof cache <= 128);
}

}  // namespace
}  // namespace gasmeter::pgas::address_cache_test
