// Sums and products of numbers from outside: programs, command lines, machine files, job files, messages. A result
// that does not fit is refused in one line and never wraps. Times saturate instead (units.hpp).
#pragma once

#include <cstdint>
#include <limits>
#include <string>

#include "gasmeter/base/error.hpp"
#include "gasmeter/base/platform.hpp"
#include "gasmeter/base/units.hpp"

namespace gasmeter {

// The largest number of bytes allowed anywhere. No computer has so much, and two such numbers can be added without a
// check.
inline constexpr Bytes kMostBytes = Bytes{1} << 62U;

[[noreturn]] inline GASMETER_NOINLINE void refuse_number(const char* what, Bytes a, const char* sign, Bytes b) {
  throw UsageError(std::string(what) + " of " + std::to_string(a) + " " + sign + " " + std::to_string(b) +
                   "; at most " + std::to_string(kMostBytes) + " is allowed");
}

// Return the sum or product; throw UsageError, whose text begins with `what`, above kMostBytes.
[[nodiscard]] constexpr Bytes checked_sum(const char* what, Bytes a, Bytes b) {
  if (GASMETER_UNLIKELY(a > kMostBytes || b > kMostBytes - a)) refuse_number(what, a, "+", b);
  return a + b;
}
[[nodiscard]] constexpr Bytes checked_product(const char* what, Bytes a, Bytes b) {
  Bytes product = 0;
  if (GASMETER_UNLIKELY(__builtin_mul_overflow(a, b, &product) || product > kMostBytes)) refuse_number(what, a, "*", b);
  return product;
}

// Return the number of portions of size `each` (1 or more) that `all` needs.
[[nodiscard]] constexpr std::uint64_t portions(std::uint64_t all, std::uint64_t each) {
  return all / each + (all % each != 0 ? 1 : 0);
}

// Return whether [at, at + bytes) lies in the `size` bytes from `start` on. No sum wraps.
[[nodiscard]] constexpr bool lies_within(std::uint64_t start, Bytes size, std::uint64_t at, Bytes bytes) {
  return at >= start && bytes <= size && at - start <= size - bytes;
}

}  // namespace gasmeter
