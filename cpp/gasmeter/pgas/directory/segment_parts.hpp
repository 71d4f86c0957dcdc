// Which bytes of a rank's segment hold parts of shared objects.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "gasmeter/base/checked_arithmetic.hpp"
#include "gasmeter/base/units.hpp"

namespace gasmeter::pgas {

// Parts of what all ranks make together grow from the low end, in the same order at all of them, so that they lie alike
// in the segments of one node; what a rank makes or is told of by itself grows from the high end.
class SegmentParts {
 public:
  static constexpr Bytes kAlignment = 64;
  // The first part lies up to so many bytes behind the begin, otherwise on every node: nobody knows another node's
  // bases.
  static constexpr Bytes kStagger = 4096;

  // Bytes that a part takes of a segment. Throws UsageError above kMostBytes, lest rounding up wraps.
  [[nodiscard]] static constexpr Bytes room(Bytes part) {
    return part == 0 ? kAlignment
                     : checked_sum("shared object: bytes of a part", part, kAlignment - 1) / kAlignment * kAlignment;
  }

  // Of bytes [first, bytes) of the segment; `node`: a number of the node's own.
  SegmentParts(Bytes first, Bytes bytes, std::uint32_t node);

  // Where it lies; nothing: there is no room.
  [[nodiscard]] std::optional<Bytes> take_common(Bytes part);
  [[nodiscard]] std::optional<Bytes> take_own(Bytes part);
  // Throws UsageError for what was not taken.
  void give_back(Bytes base, Bytes part);

  [[nodiscard]] Bytes begin() const { return begin_; }                          // of the first part
  [[nodiscard]] Bytes left() const { return bytes_ - common_.top - own_.top; }  // between the two

 private:
  // Of positions from 0 up to `top`, the holes in it, by their first position.
  struct Arena {
    Bytes top = 0;
    std::map<Bytes, Bytes> holes;
  };
  [[nodiscard]] std::optional<Bytes> take(Arena& arena, Bytes room) const;
  static void give(Arena& arena, Bytes at, Bytes room);

  Bytes begin_;
  Bytes bytes_;  // of both
  Arena common_;
  Arena own_;  // counted from the end
};

}  // namespace gasmeter::pgas
