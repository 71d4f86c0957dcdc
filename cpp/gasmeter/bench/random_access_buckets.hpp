// The updates that a rank holds back, in a bucket for each owner, and which bucket is the fullest.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "gasmeter/bench/random_access_stream.hpp"

namespace gasmeter::bench::random_access {

// At most kLookAhead values. Owners with equally many are in one list.
class Buckets {
 public:
  explicit Buckets(std::uint32_t owners) : owners_(owners), with_(kLookAhead + 1, kNone) {
    for (std::uint32_t i = 0; i < kLookAhead; ++i) values_[i].next = i + 1;
  }

  [[nodiscard]] std::uint64_t size() const { return size_; }
  // Returns how many its bucket then holds.
  std::uint32_t add(std::uint32_t owner, std::uint64_t value) {
    const std::uint32_t at = spare_;
    spare_ = values_[at].next;
    Owner& its = owners_[owner];
    values_[at] = {value, its.first};
    its.first = at;
    if (its.count != 0) unlink(owner);
    ++its.count;
    link(owner);
    most_ = std::max(most_, its.count);
    ++size_;
    return its.count;
  }
  // Of any that hold something.
  [[nodiscard]] std::uint32_t fullest() {
    while (with_[most_] == kNone) --most_;
    return with_[most_];
  }
  // Empties a bucket into `to`, in the order in which its values came; returns how many there were.
  std::uint32_t take(std::uint32_t owner, std::uint64_t* to) {
    Owner& its = owners_[owner];
    unlink(owner);
    const std::uint32_t count = its.count;
    for (std::uint32_t i = count; i != 0; --i) {
      const std::uint32_t at = its.first;
      to[i - 1] = values_[at].value;
      its.first = values_[at].next;
      values_[at].next = spare_;
      spare_ = at;
    }
    its.count = 0;
    size_ -= count;
    return count;
  }

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  struct Value {
    std::uint64_t value = 0;
    std::uint32_t next = 0;
  };
  struct Owner {
    std::uint32_t first = 0;
    std::uint32_t count = 0;
    std::uint32_t before = kNone;  // in the list of those with as many
    std::uint32_t after = kNone;
  };

  void link(std::uint32_t owner) {
    Owner& its = owners_[owner];
    its.before = kNone;
    its.after = with_[its.count];
    if (its.after != kNone) owners_[its.after].before = owner;
    with_[its.count] = owner;
  }
  void unlink(std::uint32_t owner) {
    const Owner& its = owners_[owner];
    (its.before == kNone ? with_[its.count] : owners_[its.before].after) = its.after;
    if (its.after != kNone) owners_[its.after].before = its.before;
  }

  std::array<Value, kLookAhead> values_;
  std::vector<Owner> owners_;
  std::vector<std::uint32_t> with_;  // by count: the first owner that has so many
  std::uint32_t spare_ = 0;
  std::uint32_t most_ = 0;  // nobody has more
  std::uint64_t size_ = 0;
};

}  // namespace gasmeter::bench::random_access
