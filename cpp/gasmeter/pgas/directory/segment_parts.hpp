// Allocation of a rank's segment to parts of shared objects.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "gasmeter/base/checked_arithmetic.hpp"
#include "gasmeter/base/units.hpp"

namespace gasmeter::pgas {

// Parts of collective objects grow from the low end, in the same order at all ranks. They thus have equal offsets in
// the segments of a node. Parts of other objects grow from the high end.
class SegmentParts {
 public:
  static constexpr Bytes kAlignment = 64;
  // Largest gap before the first part. It differs between nodes, so that a program that guesses another node's base
  // fails.
  static constexpr Bytes kStagger = 4096;

  // Return the bytes that a part takes of a segment. Throw UsageError above kMostBytes, lest rounding up wraps.
  [[nodiscard]] static constexpr Bytes room(Bytes part) {
    return part == 0 ? kAlignment
                     : checked_sum("shared object: bytes of a part", part, kAlignment - 1) / kAlignment * kAlignment;
  }

  // Use bytes [first, bytes) of the segment. `node` is a number that only this node has.
  SegmentParts(Bytes first, Bytes bytes, std::uint32_t node);

  // Return the offset of a new part; none: there is no room.
  [[nodiscard]] std::optional<Bytes> take_common(Bytes part);
  [[nodiscard]] std::optional<Bytes> take_own(Bytes part);
  // Throw UsageError for memory that was not taken.
  void give_back(Bytes base, Bytes part);

  [[nodiscard]] Bytes begin() const { return begin_; }                            // offset of the first part
  [[nodiscard]] Bytes left() const { return bytes_ - common_.top - local_.top; }  // bytes between the two ends

 private:
  // Used range from position 0 to `top`, and the holes in it, by their first position.
  struct Arena {
    Bytes top = 0;
    std::map<Bytes, Bytes> holes;
  };
  [[nodiscard]] std::optional<Bytes> take(Arena& arena, Bytes room) const;
  static void give(Arena& arena, Bytes at, Bytes room);

  Bytes begin_;
  Bytes bytes_;  // bytes of both arenas
  Arena common_;
  Arena local_;  // positions counted from the end
};

}  // namespace gasmeter::pgas
