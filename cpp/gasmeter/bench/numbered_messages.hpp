// Checking blocks of messages: every message carries a number of its own, comes whole, and comes once.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "gasmeter/base/units.hpp"
#include "gasmeter/bench/numbered_slots.hpp"
#include "gasmeter/bench/program.hpp"

namespace gasmeter::bench::numbered {

// The messages of one checking block at the rank that receives them, in any order.
class Messages {
 public:
  // Begin a block of `count` messages. Their numbers go from 0 on, and begin again at `numbers`.
  void expect(std::uint64_t seed, Bytes size, std::uint64_t count, std::uint64_t numbers) {
    seed_ = seed;
    size_ = size;
    count_ = count;
    unread_ = 0;
    times_.assign(std::min(count, numbers), 0);
  }
  // The same, where the payload tells the numbers.
  void expect(std::uint64_t seed, Bytes size, std::uint64_t count) { expect(seed, size, count, numbers_of(size)); }

  // Compare a message that has come.
  void arrived(Verification& verification, std::uint64_t number, const void* payload, Bytes size) {
    ++verification.checked;
    verification.errors += size != size_ ? 1U : 0U;
    compare(verification, payload, std::min(size, size_), seed_, number);
    if (number < times_.size()) {
      ++times_[number];
    } else {
      ++verification.errors;
    }
  }
  // The same; return the number that the payload tells, or 0 if there is no such message.
  std::uint64_t arrived(Verification& verification, const void* payload, Bytes size) {
    const std::uint64_t number = number_in(payload, std::min(size, size_), seed_);
    arrived(verification, number, payload, size);
    return number < times_.size() ? number : 0;
  }
  // Count a message whose payload may have been overwritten.
  void arrived_unread() { ++unread_; }

  // End the block: every message must have come once. Messages that were not read hide which numbers came.
  void finish(Verification& verification) {
    std::uint64_t all = unread_;
    for (std::uint64_t number = 0; number < times_.size(); ++number) {
      all += times_[number];
      if (unread_ != 0) continue;
      ++verification.checked;
      verification.errors += times_[number] != times_expected(number) ? 1U : 0U;
    }
    ++verification.checked;
    verification.errors += all != count_ ? 1U : 0U;
    times_.clear();
  }

 private:
  [[nodiscard]] std::uint64_t times_expected(std::uint64_t number) const {
    return (count_ - number + times_.size() - 1) / times_.size();
  }

  std::uint64_t seed_ = 0;
  Bytes size_ = 0;
  std::uint64_t count_ = 0;
  std::uint64_t unread_ = 0;
  std::vector<std::uint64_t> times_;  // how often each number has come
};

}  // namespace gasmeter::bench::numbered
