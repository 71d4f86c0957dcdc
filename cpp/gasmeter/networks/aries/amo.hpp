// Atomic memory operations of Aries, by command and type.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "gasmeter/base/units.hpp"

namespace gasmeter::networks::aries {

// Commands of the atomic unit. Each command may fetch the old value.
enum class AmoCommand : std::uint8_t { add, min, max, bit_and, bit_or, bit_xor, swap, compare_swap };
enum class AmoType : std::uint8_t { i32, i64, f32, f64 };

[[nodiscard]] constexpr Bytes size_of(AmoType type) {
  return type == AmoType::i32 || type == AmoType::f32 ? 4 : 8;
}
// Bytes of the operands that a command brings with it.
[[nodiscard]] constexpr Bytes operands_of(AmoCommand command, AmoType type) {
  return size_of(type) * (command == AmoCommand::compare_swap ? 2 : 1);
}

// hw.aries.gni-atomic-set: SWAP/CSWAP; ADD; AND/OR/XOR; signed and FP MIN/MAX; FP32 add. MULT, FP64 add and unsigned
// MIN/MAX are missing. Sums and bits of unsigned integers are those of signed ones.
[[nodiscard]] constexpr bool is_supported(AmoCommand command, AmoType type) {
  const bool is_float = type == AmoType::f32 || type == AmoType::f64;
  switch (command) {
    case AmoCommand::add:
      return type != AmoType::f64;
    case AmoCommand::bit_and:
    case AmoCommand::bit_or:
    case AmoCommand::bit_xor:
      return !is_float;
    default:
      return true;
  }
}

[[nodiscard]] const char* name_of(AmoCommand command);
[[nodiscard]] const char* name_of(AmoType type);

// Bits of a word of either size, in the first bytes.
using AmoOperand = std::uint64_t;
template <class Value>
[[nodiscard]] Value value_of(AmoOperand bits) {
  Value value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

template <class Value>
[[nodiscard]] AmoOperand bits_of(Value value) {
  AmoOperand bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  return bits;
}

// Operands of a compare_swap: the value to compare with, then the value to store if both are equal.
using AmoOperands = std::array<AmoOperand, 2>;

// Return the new value of a word that holds `old`.
[[nodiscard]] AmoOperand apply(AmoCommand command, AmoType type, AmoOperand old, const AmoOperands& operands);

}  // namespace gasmeter::networks::aries
