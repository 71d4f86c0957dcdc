// The updates that a rank holds back, in a bucket for each owner, and which bucket is the fullest.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "gasmeter/bench/random_access_stream.hpp"

namespace gasmeter::bench::random_access {

// Holds at most kLookAhead values. Owners with equally many values are in one list. With many owners only those with
// values take memory, at most kLookAhead of them: thousands of ranks live in one process in virtual time.
class Buckets {
 public:
  explicit Buckets(std::uint32_t owners) : is_direct_(owners <= kLookAhead), with_(kLookAhead + 1, kNone) {
    for (std::uint32_t i = 0; i < kLookAhead; ++i) values_[i].next = i + 1;
    if (is_direct_) {
      places_.resize(owners);
      for (std::uint32_t i = 0; i < owners; ++i) places_[i].owner = i;
    } else {
      chains_.assign(kChains, kNone);
    }
  }

  [[nodiscard]] std::uint64_t size() const { return size_; }
  // Add a value; return how many its bucket then holds.
  std::uint32_t add(std::uint32_t owner, std::uint64_t value) {
    const std::uint32_t at = spare_;
    spare_ = values_[at].next;
    const std::uint32_t place = is_direct_ ? owner : found_or_made(owner);
    Place& its = places_[place];
    values_[at] = {value, its.first};
    its.first = at;
    if (its.count != 0) unlink(place);
    ++its.count;
    link(place);
    most_ = std::max(most_, its.count);
    ++size_;
    return its.count;
  }
  // Return the owner of a fullest bucket, provided that any holds something.
  [[nodiscard]] std::uint32_t fullest() { return places_[first_of_fullest()].owner; }
  // Return the lowest owner among the fullest buckets.
  [[nodiscard]] std::uint32_t lowest_fullest() {
    std::uint32_t lowest = kNone;
    for (std::uint32_t at = first_of_fullest(); at != kNone; at = places_[at].after) {
      lowest = std::min(lowest, places_[at].owner);
    }
    return lowest;
  }
  // Move the `most` newest values of a bucket into `to`, in the order in which they came; return how many.
  std::uint32_t take(std::uint32_t owner, std::uint64_t* to, std::uint32_t most = kLookAhead) {
    const std::uint32_t place = is_direct_ ? owner : find(owner);
    if (place == kNone || places_[place].count == 0) return 0;
    Place& its = places_[place];
    unlink(place);
    const std::uint32_t count = std::min(its.count, most);
    for (std::uint32_t i = count; i != 0; --i) {
      const std::uint32_t at = its.first;
      to[i - 1] = values_[at].value;
      its.first = values_[at].next;
      values_[at].next = spare_;
      spare_ = at;
    }
    its.count -= count;
    size_ -= count;
    if (its.count != 0) {
      link(place);
    } else if (!is_direct_) {
      forget(place);
    }
    return count;
  }

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  static constexpr std::uint32_t kChains = 1024;
  struct Value {
    std::uint64_t value = 0;
    std::uint32_t next = 0;
  };
  struct Place {
    std::uint32_t owner = 0;
    std::uint32_t first = 0;
    std::uint32_t count = 0;
    std::uint32_t before = kNone;  // neighbour in the list of owners with equally many values
    std::uint32_t after = kNone;
    std::uint32_t next = kNone;  // next in its chain, or among free places
  };

  [[nodiscard]] std::uint32_t first_of_fullest() {
    while (with_[most_] == kNone) --most_;
    return with_[most_];
  }
  void link(std::uint32_t place) {
    Place& its = places_[place];
    its.before = kNone;
    its.after = with_[its.count];
    if (its.after != kNone) places_[its.after].before = place;
    with_[its.count] = place;
  }
  void unlink(std::uint32_t place) {
    const Place& its = places_[place];
    (its.before == kNone ? with_[its.count] : places_[its.before].after) = its.after;
    if (its.after != kNone) places_[its.after].before = its.before;
  }

  // ---- many owners: those with values are in chains by the last bits of their numbers
  [[nodiscard]] std::uint32_t find(std::uint32_t owner) const {
    std::uint32_t at = chains_[owner % kChains];
    while (at != kNone && places_[at].owner != owner) at = places_[at].next;
    return at;
  }
  [[nodiscard]] std::uint32_t found_or_made(std::uint32_t owner) {
    if (const std::uint32_t position = find(owner); position != kNone) return position;
    if (free_ == kNone) {
      free_ = static_cast<std::uint32_t>(places_.size());
      places_.emplace_back();
    }
    const std::uint32_t made = free_;
    free_ = places_[made].next;
    places_[made] = {};
    places_[made].owner = owner;
    places_[made].next = std::exchange(chains_[owner % kChains], made);
    return made;
  }
  void forget(std::uint32_t place) {
    std::uint32_t* at = &chains_[places_[place].owner % kChains];
    while (*at != place) at = &places_[*at].next;
    *at = places_[place].next;
    places_[place].next = std::exchange(free_, place);
  }

  std::array<Value, kLookAhead> values_;
  bool is_direct_;             // the place of an owner is its number
  std::vector<Place> places_;  // places of owners; with many owners: of those with values, and free places
  std::vector<std::uint32_t> chains_;
  std::vector<std::uint32_t> with_;  // by count: the first place with that many values
  std::uint32_t free_ = kNone;
  std::uint32_t spare_ = 0;
  std::uint32_t most_ = 0;  // no bucket holds more
  std::uint64_t size_ = 0;
};

}  // namespace gasmeter::bench::random_access
