// Registered memory of a rank's library: equal buffers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "gasmeter/base/units.hpp"

namespace gasmeter::networks::ibv {

// Costs address space only until it is used.
class Buffers {
 public:
  Buffers(unsigned count, Bytes stride);
  Buffers(const Buffers&) = delete;
  Buffers& operator=(const Buffers&) = delete;
  ~Buffers();

  [[nodiscard]] std::span<std::byte> memory() const { return {memory_, bytes_}; }
  [[nodiscard]] std::byte* at(std::uint32_t which) const { return memory_ + which * stride_; }

  [[nodiscard]] std::size_t free() const { return free_.size(); }
  [[nodiscard]] std::uint32_t take() {
    const std::uint32_t which = free_.back();
    free_.pop_back();
    return which;
  }
  void give(std::uint32_t which) { free_.push_back(which); }

 private:
  Bytes stride_;
  Bytes bytes_;
  std::byte* memory_;
  std::vector<std::uint32_t> free_;
};

}  // namespace gasmeter::networks::ibv
