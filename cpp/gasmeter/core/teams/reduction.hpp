// What reductions do to elements: built-in operations on six types, or a function of the user's on a type of the
// user's.
#pragma once

#include <cstddef>
#include <cstdint>

#include "gasmeter/base/units.hpp"
#include "gasmeter/core/atomics/operation.hpp"

namespace gasmeter::core {

enum class ReduceOp : std::uint8_t { add, mult, min, max, bit_and, bit_or, bit_xor };
[[nodiscard]] const char* name_of(ReduceOp op);

// right_and_out[i] = left[i] op right_and_out[i] for `count` elements, any number of them. It may run inside any call
// of the library and must not call it.
using ReduceFunction = void (*)(const void* left, void* right_and_out, std::size_t count, const void* context);

inline constexpr Bytes kLargestElement = Bytes{32} * 1024;

struct Reduction {
  Bytes element = 0;  // bytes of one
  ReduceFunction function = nullptr;
  const void* context = nullptr;      // handed to the function
  ReduceFunction mirrored = nullptr;  // the same with the operands exchanged; null: the user's own has none
  std::uint32_t code = 0;             // what ranks compare: type and operation; 0: the user's own

  // Of a user's type: commutative and associative as far as the user cares for the result's bits. The order of operands
  // is the same in every run with the same team, root and size. 1 <= element <= 32 KiB.
  [[nodiscard]] static Reduction user(ReduceFunction function, Bytes element, const void* context = nullptr);
  // Integers wrap around; bitwise ones are for integers alone. Throws UsageError otherwise.
  template <AtomicValue T>
  [[nodiscard]] static Reduction of(ReduceOp op);
};

extern template Reduction Reduction::of<std::int32_t>(ReduceOp);
extern template Reduction Reduction::of<std::uint32_t>(ReduceOp);
extern template Reduction Reduction::of<std::int64_t>(ReduceOp);
extern template Reduction Reduction::of<std::uint64_t>(ReduceOp);
extern template Reduction Reduction::of<float>(ReduceOp);
extern template Reduction Reduction::of<double>(ReduceOp);

}  // namespace gasmeter::core
