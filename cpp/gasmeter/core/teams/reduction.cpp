#include "gasmeter/core/teams/reduction.hpp"

#include <array>
#include <string>
#include <type_traits>

#include "gasmeter/base/error.hpp"
#include "gasmeter/core/atomics/remote.hpp"

namespace gasmeter::core {
namespace {

template <ReduceOp Op, class T>
constexpr T combined(T left, T right) {
  // Integers are combined as unsigned ones, which wrap around.
  if constexpr (Op == ReduceOp::add || Op == ReduceOp::mult) {
    if constexpr (std::is_integral_v<T>) {
      using U = std::make_unsigned_t<T>;
      const U a = static_cast<U>(left);
      const U b = static_cast<U>(right);
      return static_cast<T>(Op == ReduceOp::add ? a + b : a * b);
    } else {
      return Op == ReduceOp::add ? left + right : left * right;
    }
  } else if constexpr (Op == ReduceOp::min) {
    return right < left ? right : left;
  } else if constexpr (Op == ReduceOp::max) {
    return left < right ? right : left;
  } else if constexpr (Op == ReduceOp::bit_and) {
    return static_cast<T>(left & right);
  } else if constexpr (Op == ReduceOp::bit_or) {
    return static_cast<T>(left | right);
  } else {
    return static_cast<T>(left ^ right);
  }
}

template <ReduceOp Op, class T, bool Mirrored>
void combine_all(const void* from, void* to, std::size_t count, const void* /*context*/) {
  const T* const in = static_cast<const T*>(from);
  T* const out = static_cast<T*>(to);
  for (std::size_t i = 0; i < count; ++i) {
    out[i] = Mirrored ? combined<Op, T>(out[i], in[i]) : combined<Op, T>(in[i], out[i]);
  }
}

template <ReduceOp Op, class T>
Reduction built_in() {
  const auto code = 1U + static_cast<std::uint32_t>(Op) + 8U * static_cast<std::uint32_t>(atomics::value_type<T>());
  return {sizeof(T), &combine_all<Op, T, false>, nullptr, &combine_all<Op, T, true>, code};
}

}  // namespace

const char* name_of(ReduceOp op) {
  constexpr std::array kNames{"add", "mult", "min", "max", "and", "or", "xor"};
  return kNames.at(static_cast<std::size_t>(op));
}

Reduction Reduction::user(ReduceFunction function, Bytes element, const void* context) {
  if (function == nullptr) throw UsageError("reduction: no function");
  if (element == 0 || element > kLargestElement) {
    throw UsageError("reduction: elements of " + std::to_string(element) + " bytes; 1 to " +
                     std::to_string(kLargestElement) + " are allowed");
  }
  return {element, function, context, nullptr, 0};
}

template <AtomicValue T>
Reduction Reduction::of(ReduceOp op) {
  switch (op) {
    case ReduceOp::add:
      return built_in<ReduceOp::add, T>();
    case ReduceOp::mult:
      return built_in<ReduceOp::mult, T>();
    case ReduceOp::min:
      return built_in<ReduceOp::min, T>();
    case ReduceOp::max:
      return built_in<ReduceOp::max, T>();
    default:
      break;
  }
  if constexpr (std::is_integral_v<T>) {
    if (op == ReduceOp::bit_and) return built_in<ReduceOp::bit_and, T>();
    if (op == ReduceOp::bit_or) return built_in<ReduceOp::bit_or, T>();
    return built_in<ReduceOp::bit_xor, T>();
  } else {
    throw UsageError(std::string("reduction: ") + name_of(op) + " is for integers, not for floating point");
  }
}

template Reduction Reduction::of<std::int32_t>(ReduceOp);
template Reduction Reduction::of<std::uint32_t>(ReduceOp);
template Reduction Reduction::of<std::int64_t>(ReduceOp);
template Reduction Reduction::of<std::uint64_t>(ReduceOp);
template Reduction Reduction::of<float>(ReduceOp);
template Reduction Reduction::of<double>(ReduceOp);

}  // namespace gasmeter::core
