// Registered memory that Longs are sent from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "gasmeter/networks/extoll/message_store.hpp"

namespace gasmeter::networks::extoll {

// Of one rank. Costs address space only until it is used.
class BounceBuffers {
 public:
  static constexpr unsigned kCount = 8;

  BounceBuffers();
  BounceBuffers(const BounceBuffers&) = delete;
  BounceBuffers& operator=(const BounceBuffers&) = delete;
  ~BounceBuffers();

  [[nodiscard]] std::span<std::byte> memory() const { return {memory_, kCount * kMostLong}; }
  [[nodiscard]] bool empty() const { return free_ == 0; }
  [[nodiscard]] std::byte* take();
  void give(const std::byte* buffer);

 private:
  std::byte* memory_;
  std::uint8_t free_ = (1U << kCount) - 1;  // a bit for each
};

}  // namespace gasmeter::networks::extoll
