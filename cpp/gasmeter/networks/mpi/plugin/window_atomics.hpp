// Remote atomics in the words of MPI's one-sided calls.
#pragma once

#include <mpi.h>

#include <array>
#include <bit>
#include <cstdint>

#include "gasmeter/conduit/atomic.hpp"

namespace gasmeter::networks::mpi {

using conduit::AtomicOp;
using conduit::AtomicOps;
using conduit::AtomicType;
using conduit::RemoteAtomic;

[[nodiscard]] inline MPI_Datatype datatype_of(AtomicType type) {
  switch (type) {
    case AtomicType::i32:
      return MPI_INT32_T;
    case AtomicType::u32:
      return MPI_UINT32_T;
    case AtomicType::i64:
      return MPI_INT64_T;
    case AtomicType::u64:
      return MPI_UINT64_T;
    case AtomicType::f32:
      return MPI_FLOAT;
    case AtomicType::f64:
      break;
  }
  return MPI_DOUBLE;
}

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

[[nodiscard]] inline MPI_Op operation_of(AtomicOp op) {
  switch (op) {
    case AtomicOp::get:
      return MPI_NO_OP;
    case AtomicOp::set:
    case AtomicOp::swap:
      return MPI_REPLACE;
    case AtomicOp::bit_and:
    case AtomicOp::fbit_and:
      return MPI_BAND;
    case AtomicOp::bit_or:
    case AtomicOp::fbit_or:
      return MPI_BOR;
    case AtomicOp::bit_xor:
    case AtomicOp::fbit_xor:
      return MPI_BXOR;
    default:
      return MPI_SUM;
  }
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
