#include "gasmeter/core/vis/shape.hpp"

#include <limits>
#include <string>
#include <utility>

#include "gasmeter/base/error.hpp"
#include "gasmeter/base/platform.hpp"

namespace gasmeter::core::vis {
namespace {

// Products of strides and counts. The first form is for shapes, where the product is known to fit. The second, for
// descriptions, sets is_wide if it does not.
constexpr std::ptrdiff_t times(std::ptrdiff_t stride, Bytes count) {
  return static_cast<std::ptrdiff_t>(static_cast<std::size_t>(stride) * count);
}
GASMETER_INLINE std::ptrdiff_t times(std::ptrdiff_t stride, Bytes count, bool& is_wide) {
  std::ptrdiff_t product = 0;
  is_wide |= __builtin_mul_overflow(stride, count, &product);
  return product;
}
GASMETER_INLINE std::ptrdiff_t signed_of(Bytes element, bool& is_wide) {
  is_wide |= element > static_cast<Bytes>(std::numeric_limits<std::ptrdiff_t>::max());
  return static_cast<std::ptrdiff_t>(element);
}

[[noreturn]] GASMETER_NOINLINE void refuse_reach(std::size_t levels, Bytes element) {
  throw UsageError("strided transfer: " + std::to_string(levels) + " levels of pieces of " + std::to_string(element) +
                   " bytes: counts times strides reach further than 64 bits count; smaller ones are expected");
}

// Tell whether `outer` starts where `inner` ends, at both sides.
GASMETER_INLINE bool continues(const Level& outer, const Level& inner) {
  return outer.self == times(inner.self, inner.count) && outer.peer == times(inner.peer, inner.count);
}

GASMETER_INLINE bool touches(const Level& level, Bytes element) {
  const auto size = static_cast<std::ptrdiff_t>(element);
  return level.self == size && level.peer == size;
}

void remove_first(Shape& shape) {
  for (std::uint32_t i = 1; i < shape.levels; ++i) shape.level[i - 1] = shape.level[i];
  --shape.levels;
}

}  // namespace

std::optional<Extent> extent_of(Bytes element, std::span<const Bytes> counts, std::span<const std::ptrdiff_t> strides) {
  return extent_of_levels(element, counts.size(), [&](std::size_t i) { return std::pair(counts[i], strides[i]); });
}

void check_levels(std::size_t counts, std::size_t self, std::size_t peer) {
  if (self != counts || peer != counts) {
    throw UsageError("strided transfer: " + std::to_string(counts) + " counts, but " + std::to_string(self) +
                     " strides at this side and " + std::to_string(peer) + " at the peer's; one per level is expected");
  }
  if (counts > kMostLevels) {
    throw UsageError("strided transfer: " + std::to_string(counts) + " levels; at most " + std::to_string(kMostLevels) +
                     " are allowed");
  }
}

Shape plain_shape(std::byte* self, std::span<const std::ptrdiff_t> self_strides, std::byte* peer,
                  std::span<const std::ptrdiff_t> peer_strides, Bytes element, std::span<const Bytes> counts) {
  check_levels(counts.size(), self_strides.size(), peer_strides.size());
  Shape shape;
  shape.self = self;
  shape.peer = peer;
  shape.element = element;
  shape.levels = static_cast<std::uint32_t>(counts.size());
  bool is_wide = false;
  bool is_empty = element == 0;
  (void)signed_of(element, is_wide);
  Bytes total = element;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    shape.level[i] = {counts[i], self_strides[i], peer_strides[i]};
    is_empty |= counts[i] == 0;
    is_wide |= __builtin_mul_overflow(total, counts[i], &total);
    (void)times(self_strides[i], counts[i], is_wide);
    (void)times(peer_strides[i], counts[i], is_wide);
  }
  if (is_wide && !is_empty) refuse_reach(counts.size(), element);
  return shape;
}

void drop_null_levels(Shape& shape) {
  std::uint32_t kept = 0;
  for (std::uint32_t i = 0; i < shape.levels; ++i) {
    if (shape.level[i].count != 1) shape.level[kept++] = shape.level[i];
  }
  shape.levels = kept;
}

void invert(Shape& shape) {
  for (std::uint32_t i = 0; i < shape.levels; ++i) {
    Level& level = shape.level[i];
    if (level.peer >= 0 || level.count == 0) continue;
    shape.self = shifted(shape.self, times(level.self, level.count - 1));
    shape.peer = shifted(shape.peer, times(level.peer, level.count - 1));
    level.self = -level.self;
    level.peer = -level.peer;
  }
}

void sort_levels(Shape& shape) {
  for (std::uint32_t i = 0; i + 1 < shape.levels; ++i) {
    std::uint32_t least = i;
    for (std::uint32_t j = i + 1; j < shape.levels; ++j) {
      if (shape.level[j].peer < shape.level[least].peer) least = j;
    }
    if (least != i) std::swap(shape.level[i], shape.level[least]);
  }
}

void fold_into_element(Shape& shape) {
  while (shape.levels != 0 && touches(shape.level[0], shape.element)) {
    shape.element *= shape.level[0].count;
    remove_first(shape);
  }
}

void fold_neighbours(Shape& shape) {
  if (shape.levels == 0) return;
  std::uint32_t last = 0;
  for (std::uint32_t i = 1; i < shape.levels; ++i) {
    if (continues(shape.level[i], shape.level[last])) {
      shape.level[last].count *= shape.level[i].count;
    } else {
      shape.level[++last] = shape.level[i];
    }
  }
  shape.levels = last + 1;
}

// Optimise while reading the description. The first pass folds levels that are already in order. A description of many
// levels that is really one level thus costs a comparison per level.
bool optimised_shape(Shape& shape, std::byte* self, std::span<const std::ptrdiff_t> self_strides, std::byte* peer,
                     std::span<const std::ptrdiff_t> peer_strides, Bytes element, std::span<const Bytes> counts) {
  check_levels(counts.size(), self_strides.size(), peer_strides.size());
  shape.self = self;
  shape.peer = peer;
  shape.element = element;
  shape.levels = 0;
  if (element == 0) return false;
  Level open{1, 0, 0};
  bool is_wide = false;
  Bytes total = element;
  std::ptrdiff_t next_self = signed_of(element, is_wide);
  std::ptrdiff_t next_peer = next_self;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const Bytes count = counts[i];
    if (GASMETER_UNLIKELY(count <= 1)) {
      if (count == 0) return false;
      continue;
    }
    if (self_strides[i] == next_self && peer_strides[i] == next_peer) {
      (open.count == 1 ? shape.element : open.count) *= count;
    } else {
      if (open.count != 1) shape.level[shape.levels++] = open;
      open = {count, self_strides[i], peer_strides[i]};
    }
    is_wide |= __builtin_mul_overflow(total, count, &total);
    next_self = times(self_strides[i], count, is_wide);
    next_peer = times(peer_strides[i], count, is_wide);
  }
  if (GASMETER_UNLIKELY(is_wide)) refuse_reach(counts.size(), element);
  if (open.count != 1) shape.level[shape.levels++] = open;
  invert(shape);
  if (shape.levels > 1) {
    sort_levels(shape);
    fold_into_element(shape);
    fold_neighbours(shape);
  } else {
    fold_into_element(shape);
  }
  return true;
}

bool is_translational(const Shape& shape) {
  auto self = static_cast<std::ptrdiff_t>(shape.element);
  std::ptrdiff_t peer = self;
  for (std::uint32_t i = 0; i < shape.levels; ++i) {
    const Level& level = shape.level[i];
    if (level.self < self || level.peer < peer) return false;
    self = times(level.self, level.count);
    peer = times(level.peer, level.count);
  }
  return true;
}

void test_contiguity(Shape& shape) {
  std::uint32_t first = 0;
  while (first < shape.levels && touches(shape.level[first], shape.element)) {
    shape.element *= shape.level[first++].count;
  }
  for (std::uint32_t i = first; i < shape.levels; ++i) shape.level[i - first] = shape.level[i];
  shape.levels -= first;
}

}  // namespace gasmeter::core::vis
