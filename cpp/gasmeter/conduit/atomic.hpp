// Remote atomics [EX:Atomic Domains] between core and a network's conduit.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>

#include "gasmeter/base/units.hpp"

namespace gasmeter::conduit {

// Operations on op0, the value at the target, with operands a and b. Each comment gives the new value. Operations that
// begin with f return op0, and swap and get do so, too.
enum class AtomicOp : std::uint8_t {
  set,   // a
  get,   // op0
  swap,  // a
  cas,   // op0 == a ? b : op0; floating point is compared bit by bit
  fcas,
  add,  // op0 + a; integers wrap around
  fadd,
  sub,  // op0 - a
  fsub,
  mult,  // op0 * a
  fmult,
  min,
  fmin,
  max,
  fmax,
  inc,  // op0 + 1
  finc,
  dec,  // op0 - 1
  fdec,
  bit_and,  // bitwise operations from here on: integers only
  fbit_and,
  bit_or,
  fbit_or,
  bit_xor,
  fbit_xor,
  count_
};

[[nodiscard]] constexpr const char* name_of(AtomicOp op) {
  constexpr std::array kNames{"set",  "get",     "swap",     "cas",    "fcas",    "add",     "fadd",    "sub",  "fsub",
                              "mult", "fmult",   "min",      "fmin",   "max",     "fmax",    "inc",     "finc", "dec",
                              "fdec", "bit_and", "fbit_and", "bit_or", "fbit_or", "bit_xor", "fbit_xor"};
  static_assert(kNames.size() == static_cast<std::size_t>(AtomicOp::count_));
  return op < AtomicOp::count_ ? kNames[static_cast<std::size_t>(op)] : "(unknown)";
}

[[nodiscard]] constexpr bool fetches(AtomicOp op) {
  switch (op) {
    case AtomicOp::set:
    case AtomicOp::cas:
      return false;
    case AtomicOp::get:
    case AtomicOp::swap:
    case AtomicOp::fcas:
      return true;
    default:  // pairs: without and with a returned value
      return (static_cast<unsigned>(op) - static_cast<unsigned>(AtomicOp::add)) % 2 == 1;
  }
}
[[nodiscard]] constexpr unsigned operands_of(AtomicOp op) {
  switch (op) {
    case AtomicOp::get:
    case AtomicOp::inc:
    case AtomicOp::finc:
    case AtomicOp::dec:
    case AtomicOp::fdec:
      return 0;
    case AtomicOp::cas:
    case AtomicOp::fcas:
      return 2;
    default:
      return 1;
  }
}
[[nodiscard]] constexpr bool is_bitwise(AtomicOp op) {
  return op >= AtomicOp::bit_and && op < AtomicOp::count_;
}

// A set of operations.
class AtomicOps {
 public:
  constexpr AtomicOps(std::initializer_list<AtomicOp> ops) {
    for (const AtomicOp op : ops) bits_ |= bit(op);
  }
  [[nodiscard]] static constexpr AtomicOps all_of_integers() { return AtomicOps(bit(AtomicOp::count_) - 1); }
  [[nodiscard]] static constexpr AtomicOps all_of_floats() { return AtomicOps(bit(AtomicOp::bit_and) - 1); }
  [[nodiscard]] constexpr bool holds(AtomicOp op) const { return (bits_ & bit(op)) != 0; }
  [[nodiscard]] constexpr bool is_within(AtomicOps others) const { return (bits_ & ~others.bits_) == 0; }
  constexpr bool operator==(const AtomicOps&) const = default;

 private:
  constexpr explicit AtomicOps(std::uint32_t bits) : bits_(bits) {}
  static constexpr std::uint32_t bit(AtomicOp op) { return std::uint32_t{1} << static_cast<unsigned>(op); }
  std::uint32_t bits_ = 0;
};

enum class AtomicType : std::uint8_t { i32, u32, i64, u64, f32, f64 };

// An atomic operation in transit. Values are given as their bits.
struct RemoteAtomic {
  AtomicType type{};
  AtomicOp op{};
  std::uint64_t a = 0;
  std::uint64_t b = 0;
  void* target = nullptr;
  void* result = nullptr;  // of fetching operations only

  // Return the size of the target word and of the result.
  [[nodiscard]] constexpr Bytes bytes() const {
    return type == AtomicType::i64 || type == AtomicType::u64 || type == AtomicType::f64 ? 8 : 4;
  }
};

}  // namespace gasmeter::conduit
