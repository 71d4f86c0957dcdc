// Memory for messages of many pages, kept for the next one: malloc gives such memory back to the system, and a page
// that is touched for the first time costs more than the bytes that are copied into it.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "gasmeter/base/units.hpp"

namespace gasmeter {

// Outlives what was taken from it. Of one thread.
class BytePool {
 public:
  struct Return {
    BytePool* home = nullptr;  // null: memory of its own
    void operator()(std::byte* memory) const {
      std::unique_ptr<std::byte[]> owned(memory);
      if (home != nullptr && home->free_.size() < kMostKept) home->free_.push_back(std::move(owned));
    }
  };
  using Memory = std::unique_ptr<std::byte[], Return>;

  // `each`: bytes of what is kept. Less than a quarter of it, or more, comes from malloc.
  explicit BytePool(Bytes each) : each_(each) {}
  BytePool(const BytePool&) = delete;
  BytePool& operator=(const BytePool&) = delete;
  ~BytePool() = default;

  // At least `bytes` bytes, not initialised.
  [[nodiscard]] Memory take(Bytes bytes) {
    if (bytes > each_ || bytes < each_ / 4) return Memory(new std::byte[bytes != 0 ? bytes : 1], Return{});
    if (free_.empty()) return Memory(new std::byte[each_], Return{this});
    Memory memory(free_.back().release(), Return{this});
    free_.pop_back();
    return memory;
  }

 private:
  static constexpr std::size_t kMostKept = 32;

  Bytes each_;
  std::vector<std::unique_ptr<std::byte[]>> free_;
};

}  // namespace gasmeter
