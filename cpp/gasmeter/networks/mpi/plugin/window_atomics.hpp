// Which remote atomics MPI's one-sided calls do, and what they are given.
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

// MPI promises atomicity between equal operations, and with those that only read (MPI 3.1, 11.2.1, accumulate_ops):
// a domain's set has to be within one of these. Products and extremes, which nobody waits for, are not among them.
inline constexpr std::array kTogether{
    AtomicOps{AtomicOp::get, AtomicOp::add, AtomicOp::fadd, AtomicOp::sub, AtomicOp::fsub, AtomicOp::inc,
              AtomicOp::finc, AtomicOp::dec, AtomicOp::fdec},
    AtomicOps{AtomicOp::get, AtomicOp::set, AtomicOp::swap},
    AtomicOps{AtomicOp::get, AtomicOp::bit_and, AtomicOp::fbit_and},
    AtomicOps{AtomicOp::get, AtomicOp::bit_or, AtomicOp::fbit_or},
    AtomicOps{AtomicOp::get, AtomicOp::bit_xor, AtomicOp::fbit_xor},
};
// Compared bit by bit: integers alone.
inline constexpr AtomicOps kSwapped{AtomicOp::get, AtomicOp::cas, AtomicOp::fcas};

[[nodiscard]] constexpr bool does_atomics(AtomicType type, AtomicOps ops) {
  if (ops.is_within(kSwapped)) return !is_floating(type);
  for (const AtomicOps& together : kTogether) {
    if (ops.is_within(together)) return true;
  }
  return false;
}

// Bits of 1 and -1, and of the negative of a value.
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

// What MPI does at the word with the operand that it is given.
enum class Combining : std::uint8_t { nothing, replace, sum, bit_and, bit_or, bit_xor };

// Throws UsageError for what no set of does_atomics() holds, and for comparisons, which are a call of their own.
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

// What is added, stored or combined; an integer's low bytes come first in memory on the machines that run this.
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
