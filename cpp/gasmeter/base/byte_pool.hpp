// Pool of large blocks of memory for messages of many pages. malloc returns such memory to the system, and the first
// touch of a page costs more than the bytes that are copied into it.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "gasmeter/base/units.hpp"

namespace gasmeter {

// The pool outlives all memory taken from it. Only one thread may use it.
class BytePool {
 public:
  struct Return {
    BytePool* home = nullptr;  // null: the memory belongs to no pool
    void operator()(std::byte* memory) const {
      std::unique_ptr<std::byte[]> owned(memory);
      if (home != nullptr && home->free_.size() < kMostKept) home->free_.push_back(std::move(owned));
    }
  };
  using Memory = std::unique_ptr<std::byte[], Return>;

  // `each` is the size of a kept block in bytes. Requests above it, or below a quarter of it, are served by malloc.
  explicit BytePool(Bytes each) : each_(each) {}
  BytePool(const BytePool&) = delete;
  BytePool& operator=(const BytePool&) = delete;
  ~BytePool() = default;

  // Return at least `bytes` bytes, not initialised.
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
