// Shape of a strided transfer, as both sides see it, and the stride optimiser. Its passes rewrite a shape into an
// equivalent one of fewer levels and larger pieces [EX:VIS].
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "gasmeter/base/units.hpp"

namespace gasmeter::core::vis {

inline constexpr std::size_t kMostLevels = 64;

// `count` repetitions of the levels below, at strides in bytes.
struct Level {
  Bytes count;
  std::ptrdiff_t self;  // stride at this rank's side
  std::ptrdiff_t peer;
};

// Pieces of `element` bytes at either side; level[0] is the innermost. Only the first `levels` entries are valid.
struct Shape {
  std::byte* self;
  std::byte* peer;
  Bytes element;
  std::uint32_t levels;
  std::array<Level, kMostLevels> level;

  [[nodiscard]] Bytes pieces() const {
    Bytes all = 1;
    for (std::uint32_t i = 0; i < levels; ++i) all *= level[i].count;
    return all;
  }
  [[nodiscard]] Bytes total() const { return pieces() * element; }
};

// Return the address `by` bytes further on, modulo 2^64. Memory between the two may belong to no object.
[[nodiscard]] inline std::byte* shifted(std::byte* at, std::ptrdiff_t by) {
  return reinterpret_cast<std::byte*>(reinterpret_cast<std::uintptr_t>(at) + static_cast<std::uintptr_t>(by));
}

// Bytes that a side touches, relative to its base address: [first, last). {0, 0} if there are none.
struct Extent {
  std::ptrdiff_t first;
  std::ptrdiff_t last;

  [[nodiscard]] Bytes bytes() const { return static_cast<Bytes>(last) - static_cast<Bytes>(first); }
};
// Return the extent. `level(i)` is {count, stride}. Return nothing if it needs more than 64 bits.
template <class Level>
[[nodiscard]] std::optional<Extent> extent_of_levels(Bytes element, std::size_t levels, Level&& level) {
  Extent extent{0, 0};
  if (__builtin_add_overflow(element, 0, &extent.last)) return std::nullopt;
  bool is_wide = false;
  for (std::size_t i = 0; i < levels; ++i) {
    const auto [count, stride] = level(i);
    if (count == 0 || element == 0) return Extent{0, 0};
    std::ptrdiff_t reach = 0;
    is_wide |= __builtin_mul_overflow(stride, count - 1, &reach);
    std::ptrdiff_t& end = reach < 0 ? extent.first : extent.last;
    is_wide |= __builtin_add_overflow(end, reach, &end);
  }
  return is_wide ? std::nullopt : std::optional(extent);
}
[[nodiscard]] std::optional<Extent> extent_of(Bytes element, std::span<const Bytes> counts,
                                              std::span<const std::ptrdiff_t> strides);

// Make a shape from the client's description. Both spans of strides must be as long as `counts`, and no distance
// within a side may exceed 64 bits; otherwise UsageError is thrown.
void check_levels(std::size_t counts, std::size_t self, std::size_t peer);
[[nodiscard]] Shape plain_shape(std::byte* self, std::span<const std::ptrdiff_t> self_strides, std::byte* peer,
                                std::span<const std::ptrdiff_t> peer_strides, Bytes element,
                                std::span<const Bytes> counts);

// ---- the passes. Each preserves source and destination of every byte, and none adds a level.
void drop_null_levels(Shape& shape);   // counts of 1
void invert(Shape& shape);             // makes every peer stride non-negative: the walk starts at the other end
void sort_levels(Shape& shape);        // by ascending peer stride
void fold_into_element(Shape& shape);  // innermost levels whose pieces touch at both sides
void fold_neighbours(Shape& shape);    // a level that continues the one below at both sides

// Run all passes, reading the client's description once. Return false if there is nothing to move.
[[nodiscard]] bool optimised_shape(Shape& shape, std::byte* self, std::span<const std::ptrdiff_t> self_strides,
                                   std::byte* peer, std::span<const std::ptrdiff_t> peer_strides, Bytes element,
                                   std::span<const Bytes> counts);

// ---- GASNet-1's treatment of shapes: see README.md
// Tell whether the levels nest without crossing or going back at either side.
[[nodiscard]] bool is_translational(const Shape& shape);
// Fold leading levels that are contiguous at both sides into the element, and change nothing else.
void test_contiguity(Shape& shape);

}  // namespace gasmeter::core::vis
