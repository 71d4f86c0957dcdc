#include "gasmeter/networks/aries/amo.hpp"

#include <algorithm>
#include <type_traits>

namespace gasmeter::networks::aries {

namespace {

// Add two values. Integers wrap around.
template <class Value>
Value sum(Value a, Value b) {
  if constexpr (std::is_integral_v<Value>) {
    using Unsigned = std::make_unsigned_t<Value>;
    return static_cast<Value>(static_cast<Unsigned>(a) + static_cast<Unsigned>(b));
  } else {
    return a + b;
  }
}

template <class Value>
AmoOperand of_numbers(AmoCommand command, AmoOperand old, AmoOperand operand) {
  const auto a = value_of<Value>(old);
  const auto b = value_of<Value>(operand);
  if (command == AmoCommand::add) return bits_of(sum(a, b));
  return bits_of(command == AmoCommand::min ? std::min(a, b) : std::max(a, b));
}

AmoOperand of_numbers(AmoCommand command, AmoType type, AmoOperand old, AmoOperand operand) {
  switch (type) {
    case AmoType::i32:
      return of_numbers<std::int32_t>(command, old, operand);
    case AmoType::i64:
      return of_numbers<std::int64_t>(command, old, operand);
    case AmoType::f32:
      return of_numbers<float>(command, old, operand);
    case AmoType::f64:
      break;
  }
  return of_numbers<double>(command, old, operand);
}

}  // namespace

const char* name_of(AmoCommand command) {
  static constexpr std::array<const char*, 8> names = {"ADD", "MIN", "MAX", "AND", "OR", "XOR", "SWAP", "CSWAP"};
  return names.at(static_cast<std::size_t>(command));
}

const char* name_of(AmoType type) {
  static constexpr std::array<const char*, 4> names = {"i32", "i64", "f32", "f64"};
  return names.at(static_cast<std::size_t>(type));
}

AmoOperand apply(AmoCommand command, AmoType type, AmoOperand old, const AmoOperands& operands) {
  switch (command) {
    case AmoCommand::bit_and:
      return old & operands[0];
    case AmoCommand::bit_or:
      return old | operands[0];
    case AmoCommand::bit_xor:
      return old ^ operands[0];
    case AmoCommand::swap:
      return operands[0];
    case AmoCommand::compare_swap:
      return old == operands[0] ? operands[1] : old;
    default:
      return of_numbers(command, type, old, operands[0]);
  }
}

}  // namespace gasmeter::networks::aries
