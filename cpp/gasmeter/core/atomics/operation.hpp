// Atomic operations on this rank's own memory.
#pragma once

#include <atomic>
#include <concepts>
#include <cstdint>
#include <type_traits>

#include "gasmeter/base/platform.hpp"
#include "gasmeter/conduit/atomic.hpp"

namespace gasmeter::core {

using conduit::AtomicOp;
using conduit::AtomicOps;
using conduit::AtomicType;
using conduit::fetches;
using conduit::is_bitwise;
using conduit::operands_of;
using conduit::RemoteAtomic;

template <class T>
concept AtomicValue =
    std::same_as<T, std::int32_t> || std::same_as<T, std::uint32_t> || std::same_as<T, std::int64_t> ||
    std::same_as<T, std::uint64_t> || std::same_as<T, float> || std::same_as<T, double>;

namespace atomics {

// Return the new value at the target, for operations that have no processor instruction on some type.
template <AtomicOp Op, AtomicValue T>
[[nodiscard]] constexpr T combine(T old, T a) {
  if constexpr (Op == AtomicOp::mult || Op == AtomicOp::fmult) {
    if constexpr (std::is_integral_v<T>) {
      using Unsigned = std::make_unsigned_t<T>;
      return static_cast<T>(static_cast<Unsigned>(old) * static_cast<Unsigned>(a));
    } else {
      return old * a;
    }
  } else if constexpr (Op == AtomicOp::min || Op == AtomicOp::fmin) {
    return a < old ? a : old;
  } else {
    static_assert(Op == AtomicOp::max || Op == AtomicOp::fmax);
    return old < a ? a : old;
  }
}

// Do the operation at once and return op0 (for set: a value without meaning). A rank that sees the operation also sees
// this rank's earlier work.
template <AtomicOp Op, AtomicValue T>
GASMETER_INLINE T apply(T* target, T a, T b) {
  static_assert(std::atomic_ref<T>::is_always_lock_free);
  const std::atomic_ref<T> word(*target);
  constexpr auto kOrder = std::memory_order_acq_rel;
  if constexpr (Op == AtomicOp::set) {
    word.store(a, std::memory_order_release);
    return T{};
  } else if constexpr (Op == AtomicOp::get) {
    return word.load(std::memory_order_acquire);
  } else if constexpr (Op == AtomicOp::swap) {
    return word.exchange(a, kOrder);
  } else if constexpr (Op == AtomicOp::cas || Op == AtomicOp::fcas) {
    T expected = a;
    word.compare_exchange_strong(expected, b, kOrder, std::memory_order_acquire);
    return expected;
  } else if constexpr (Op == AtomicOp::add || Op == AtomicOp::fadd) {
    return word.fetch_add(a, kOrder);
  } else if constexpr (Op == AtomicOp::sub || Op == AtomicOp::fsub) {
    return word.fetch_sub(a, kOrder);
  } else if constexpr (Op == AtomicOp::inc || Op == AtomicOp::finc) {
    return word.fetch_add(T{1}, kOrder);
  } else if constexpr (Op == AtomicOp::dec || Op == AtomicOp::fdec) {
    return word.fetch_sub(T{1}, kOrder);
  } else if constexpr (is_bitwise(Op)) {
    if constexpr (std::is_integral_v<T>) {
      if constexpr (Op == AtomicOp::bit_and || Op == AtomicOp::fbit_and) return word.fetch_and(a, kOrder);
      if constexpr (Op == AtomicOp::bit_or || Op == AtomicOp::fbit_or) return word.fetch_or(a, kOrder);
      if constexpr (Op == AtomicOp::bit_xor || Op == AtomicOp::fbit_xor) return word.fetch_xor(a, kOrder);
    }
    return T{};  // no domain of floating point has these
  } else {
    T old = word.load(std::memory_order_relaxed);
    while (!word.compare_exchange_weak(old, combine<Op>(old, a), kOrder, std::memory_order_relaxed)) {
    }
    return old;
  }
}

// Call f.operator()<Op>() for an operation known at run time only.
template <class F, AtomicOp Op = AtomicOp{}>
decltype(auto) with_operation(AtomicOp op, F&& f) {
  constexpr auto kNext = static_cast<AtomicOp>(static_cast<std::uint8_t>(Op) + 1);
  if constexpr (kNext == AtomicOp::count_) {
    return f.template operator()<Op>();
  } else {
    if (op == Op) return f.template operator()<Op>();
    return with_operation<F, kNext>(op, static_cast<F&&>(f));
  }
}

}  // namespace atomics

}  // namespace gasmeter::core
