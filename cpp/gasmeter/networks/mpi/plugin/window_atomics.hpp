// Remote atomics that MPI's one-sided calls can do, and the operands of these calls.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <string>

#include "gasmeter/base/error.hpp"
#include "gasmeter/conduit/atomic.hpp"

namespace gasmeter::networks::mpi {

using conduit::AtomicOp;
using conduit::AtomicOps;
using conduit::AtomicType;
using conduit::RemoteAtomic;

[[nodiscard]] constexpr bool is_floating(AtomicType type) {
  return type == AtomicType::f32 || type == AtomicType::f64;
}

// MPI promises atomicity between equal operations, and with operations that only read (MPI 3.1, 11.2.1,
// accumulate_ops). So a domain's set of operations has to be within one of these sets. They leave out products and
// extremes, which no user has asked for.
inline constexpr std::array kTogether{
    AtomicOps{AtomicOp::get, AtomicOp::add, AtomicOp::fadd, AtomicOp::sub, AtomicOp::fsub, AtomicOp::inc,
              AtomicOp::finc, AtomicOp::dec, AtomicOp::fdec},
    AtomicOps{AtomicOp::get, AtomicOp::set, AtomicOp::swap},
    AtomicOps{AtomicOp::get, AtomicOp::bit_and, AtomicOp::fbit_and},
    AtomicOps{AtomicOp::get, AtomicOp::bit_or, AtomicOp::fbit_or},
    AtomicOps{AtomicOp::get, AtomicOp::bit_xor, AtomicOp::fbit_xor},
};
// Compare-and-swap compares bits, so only integers have it.
inline constexpr AtomicOps kSwapped{AtomicOp::get, AtomicOp::cas, AtomicOp::fcas};

[[nodiscard]] constexpr bool does_atomics(AtomicType type, AtomicOps ops) {
  if (ops.is_within(kSwapped)) return !is_floating(type);
  for (const AtomicOps& together : kTogether) {
    if (ops.is_within(together)) return true;
  }
  return false;
}

// Return the bits of 1 or -1.
[[nodiscard]] inline std::uint64_t one_of(AtomicType type, bool negative) {
  if (type == AtomicType::f32) return std::bit_cast<std::uint32_t>(negative ? -1.0F : 1.0F);
  if (type == AtomicType::f64) return std::bit_cast<std::uint64_t>(negative ? -1.0 : 1.0);
  return negative ? ~std::uint64_t{0} : std::uint64_t{1};
}
[[nodiscard]] inline std::uint64_t negative_of(AtomicType type, std::uint64_t bits) {
  if (type == AtomicType::f32) return bits ^ (std::uint64_t{1} << 31U);
  if (type == AtomicType::f64) return bits ^ (std::uint64_t{1} << 63U);
  return ~bits + 1;
}

// Operation that MPI applies to the word.
enum class Combining : std::uint8_t { nothing, replace, sum, bit_and, bit_or, bit_xor };

// Throws UsageError for operations that no set of does_atomics() holds, and for compare-and-swap, which is a call of
// its own.
[[nodiscard]] inline Combining combining_of(AtomicOp op) {
  switch (op) {
    case AtomicOp::get:
      return Combining::nothing;
    case AtomicOp::set:
    case AtomicOp::swap:
      return Combining::replace;
    case AtomicOp::add:
    case AtomicOp::fadd:
    case AtomicOp::sub:
    case AtomicOp::fsub:
    case AtomicOp::inc:
    case AtomicOp::finc:
    case AtomicOp::dec:
    case AtomicOp::fdec:
      return Combining::sum;
    case AtomicOp::bit_and:
    case AtomicOp::fbit_and:
      return Combining::bit_and;
    case AtomicOp::bit_or:
    case AtomicOp::fbit_or:
      return Combining::bit_or;
    case AtomicOp::bit_xor:
    case AtomicOp::fbit_xor:
      return Combining::bit_xor;
    default:
      throw UsageError(std::string("mpi: atomic operation '") + conduit::name_of(op) +
                       "' is none of those that MPI combines with a word");
  }
}

// Return the operand that is added, stored or combined. MPI reads an integer's low bytes first, hence the assertion.
static_assert(std::endian::native == std::endian::little);
[[nodiscard]] inline std::uint64_t operand_of(const RemoteAtomic& atomic) {
  switch (atomic.op) {
    case AtomicOp::inc:
    case AtomicOp::finc:
      return one_of(atomic.type, false);
    case AtomicOp::dec:
    case AtomicOp::fdec:
      return one_of(atomic.type, true);
    case AtomicOp::sub:
    case AtomicOp::fsub:
      return negative_of(atomic.type, atomic.a);
    default:
      return atomic.a;
  }
}

}  // namespace gasmeter::networks::mpi
