// Halves of addresses and sizes, which travel as two 32-bit arguments of a message.
#pragma once

#include <cstdint>

namespace gasmeter::core {

[[nodiscard]] inline std::int32_t low(std::uint64_t value) {
  return static_cast<std::int32_t>(value & 0xffffffffU);
}
[[nodiscard]] inline std::int32_t high(std::uint64_t value) {
  return static_cast<std::int32_t>(value >> 32);
}
[[nodiscard]] inline std::uint64_t bits(const void* address) {
  return reinterpret_cast<std::uint64_t>(address);
}

}  // namespace gasmeter::core
