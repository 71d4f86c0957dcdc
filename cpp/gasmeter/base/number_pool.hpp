// Pool of numbers of a fixed set of objects. The number returned last is taken first, since its memory is still in the
// caches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gasmeter {

class NumberPool {
 public:
  NumberPool() = default;
  NumberPool(std::uint32_t first, std::uint32_t count) : first_(first), count_(count) {
    free_.reserve(count);
    for (std::uint32_t i = count; i != 0; --i) free_.push_back(first + i - 1);
  }

  [[nodiscard]] std::size_t free() const { return free_.size(); }
  [[nodiscard]] bool empty() const { return free_.empty(); }
  [[nodiscard]] bool all_free() const { return free_.size() == count_; }
  [[nodiscard]] bool holds(std::uint32_t number) const { return number - first_ < count_; }
  [[nodiscard]] std::uint32_t first() const { return first_; }
  [[nodiscard]] std::uint32_t count() const { return count_; }

  [[nodiscard]] std::uint32_t take() {
    const std::uint32_t number = free_.back();
    free_.pop_back();
    return number;
  }
  void give(std::uint32_t number) { free_.push_back(number); }

 private:
  std::uint32_t first_ = 0;
  std::uint32_t count_ = 0;
  std::vector<std::uint32_t> free_;
};

}  // namespace gasmeter
