// Operations of reductions on elements: built-in ones on six types, or a user's function on a user's type.
#pragma once

#include <cstddef>
#include <cstdint>

#include "gasmeter/base/units.hpp"
#include "gasmeter/core/atomics/operation.hpp"

namespace gasmeter::core {

enum class ReduceOp : std::uint8_t { add, mult, min, max, bit_and, bit_or, bit_xor };
[[nodiscard]] const char* name_of(ReduceOp op);

// Compute right_and_out[i] = left[i] op right_and_out[i] for any number `count` of elements. The function may run
// inside any call of the library and must not call the library.
using ReduceFunction = void (*)(const void* left, void* right_and_out, std::size_t count, const void* context);

inline constexpr Bytes kLargestElement = Bytes{32} * 1024;

struct Reduction {
  Bytes element = 0;  // bytes of an element
  ReduceFunction function = nullptr;
  const void* context = nullptr;      // passed to the function
  ReduceFunction mirrored = nullptr;  // the same with exchanged operands; null for a user's function
  std::uint32_t code = 0;             // number that ranks compare, from type and operation; 0 for a user's function

  // Return a reduction of a user's type. The function must be commutative and associative as far as the result's bits
  // matter to the user. The order of operands is the same in every run with the same team, root and size. 1 <= element
  // <= 32 KiB.
  [[nodiscard]] static Reduction user(ReduceFunction function, Bytes element, const void* context = nullptr);
  // Return a built-in reduction. Integers wrap around. Throw UsageError for bitwise operations on floating point.
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
