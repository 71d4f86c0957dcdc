// Equal buffers in one piece of memory, which a network can register: what conduits send from and receive into.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "gasmeter/base/number_pool.hpp"
#include "gasmeter/base/units.hpp"

namespace gasmeter {

// Costs address space only until it is used.
class BufferPool {
 public:
  // `network`: for the message, should there be no address space.
  BufferPool(const char* network, unsigned count, Bytes stride);
  BufferPool(const BufferPool&) = delete;
  BufferPool& operator=(const BufferPool&) = delete;
  ~BufferPool();

  [[nodiscard]] std::span<std::byte> memory() const { return {memory_, numbers_.count() * stride_}; }
  [[nodiscard]] std::byte* at(std::uint32_t which) const { return memory_ + which * stride_; }
  [[nodiscard]] bool holds(const std::byte* address) const {
    return address >= memory_ && address < memory_ + numbers_.count() * stride_;
  }
  // Whose memory that is.
  [[nodiscard]] std::uint32_t number_of(const std::byte* address) const {
    return static_cast<std::uint32_t>(static_cast<Bytes>(address - memory_) / stride_);
  }

  [[nodiscard]] std::size_t free() const { return numbers_.free(); }
  [[nodiscard]] std::uint32_t take() { return numbers_.take(); }
  void give(std::uint32_t which) { numbers_.give(which); }

 private:
  Bytes stride_;
  NumberPool numbers_;
  std::byte* memory_ = nullptr;
};

}  // namespace gasmeter
