// Pool of equal buffers in one piece of memory, which a network can register. Conduits send from these buffers and
// receive into them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "gasmeter/base/number_pool.hpp"
#include "gasmeter/base/units.hpp"

namespace gasmeter {

// An unused buffer costs address space alone.
class BufferPool {
 public:
  // `network` names the network in the message of the ResourceError that is thrown if there is no address space.
  BufferPool(const char* network, unsigned count, Bytes stride);
  BufferPool(const BufferPool&) = delete;
  BufferPool& operator=(const BufferPool&) = delete;
  ~BufferPool();

  [[nodiscard]] std::span<std::byte> memory() const { return {memory_, numbers_.count() * stride_}; }
  [[nodiscard]] std::byte* at(std::uint32_t number) const { return memory_ + number * stride_; }
  [[nodiscard]] bool holds(const std::byte* address) const {
    return address >= memory_ && address < memory_ + numbers_.count() * stride_;
  }
  // Return the number of the buffer that `address` lies in.
  [[nodiscard]] std::uint32_t number_of(const std::byte* address) const {
    return static_cast<std::uint32_t>(static_cast<Bytes>(address - memory_) / stride_);
  }

  [[nodiscard]] std::size_t free() const { return numbers_.free(); }
  [[nodiscard]] std::uint32_t take() { return numbers_.take(); }
  void give(std::uint32_t number) { numbers_.give(number); }

 private:
  Bytes stride_;
  NumberPool numbers_;
  std::byte* memory_ = nullptr;
};

}  // namespace gasmeter
