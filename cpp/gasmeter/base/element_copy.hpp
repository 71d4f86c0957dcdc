// Copy of one piece of a transfer by loads and stores of a size that the compiler knows, and loops over pieces. Only
// callers with a loop of their own need this header; base/rows.hpp has the usual loops.
#pragma once

#include <cstddef>
#include <cstring>

#include "gasmeter/base/platform.hpp"
#include "gasmeter/base/rows.hpp"
#include "gasmeter/base/units.hpp"

namespace gasmeter {

// Copy of N bytes, known at compile time: loads and stores, no call.
template <Bytes N>
struct FixedCopy {
  explicit FixedCopy(Bytes /*piece*/) {}
  GASMETER_INLINE void operator()(std::byte* to, const std::byte* from) const { std::memcpy(to, from, N); }
};

// Copy of N < size < 2 N bytes by two overlapping parts of N bytes.
template <Bytes N>
struct OverlappedCopy {
  explicit OverlappedCopy(Bytes piece) : last(piece - N) {}
  GASMETER_INLINE void operator()(std::byte* to, const std::byte* from) const {
    std::byte head[N];
    std::byte tail[N];
    std::memcpy(head, from, N);
    std::memcpy(tail, from + last, N);
    std::memcpy(to, head, N);
    std::memcpy(to + last, tail, N);
  }
  Bytes last;
};

struct AnyCopy {
  explicit AnyCopy(Bytes size) : piece(size) {}
  GASMETER_INLINE void operator()(std::byte* to, const std::byte* from) const { std::memcpy(to, from, piece); }
  Bytes piece;
};

// Call f(copy) with the functor that copies a piece of `piece` bytes. Do nothing for 0 bytes.
template <class F>
GASMETER_INLINE void with_piece(Bytes piece, F&& f) {
  switch (piece) {
    case 0:
      return;
    case 1:
      return f(FixedCopy<1>(piece));
    case 2:
      return f(FixedCopy<2>(piece));
    case 4:
      return f(FixedCopy<4>(piece));
    case 8:
      return f(FixedCopy<8>(piece));
    case 16:
      return f(FixedCopy<16>(piece));
    case 32:
      return f(FixedCopy<32>(piece));
    case 64:
      return f(FixedCopy<64>(piece));
    default:
      if (piece > kElementCopy) return f(AnyCopy(piece));
      if (piece > 32) return f(OverlappedCopy<32>(piece));
      if (piece > 16) return f(OverlappedCopy<16>(piece));
      if (piece > 8) return f(OverlappedCopy<8>(piece));
      if (piece > 4) return f(OverlappedCopy<4>(piece));
      return f(OverlappedCopy<2>(piece));
  }
}

// Translation of addresses, which a loop calls for each piece. This one leaves addresses as they are.
struct InPlace {
  GASMETER_INLINE std::byte* to(std::byte* at) const { return at; }
  GASMETER_INLINE const std::byte* from(const std::byte* at) const { return at; }
};

// Copy a row of pieces, four at a time: their addresses do not depend on each other, and all are known before the
// first store. `step` and `copy` are passed by value: a stored byte may change anything known by reference, and each
// step would be read again for each piece.
template <class Copy, class Place>
GASMETER_INLINE void copy_row(Copy copy, Place place, std::byte* to, const std::byte* from, RowStep step) {
  for (; step.count >= 4; step.count -= 4) {
    std::byte* const t[4] = {place.to(to), place.to(to + step.to), place.to(to + 2 * step.to),
                             place.to(to + 3 * step.to)};
    const std::byte* const f[4] = {place.from(from), place.from(from + step.from), place.from(from + 2 * step.from),
                                   place.from(from + 3 * step.from)};
    copy(t[0], f[0]);
    copy(t[1], f[1]);
    copy(t[2], f[2]);
    copy(t[3], f[3]);
    to += 4 * step.to;
    from += 4 * step.from;
  }
  for (; step.count != 0; --step.count, to += step.to, from += step.from) copy(place.to(to), place.from(from));
}

// Copy the innermost row. The function is not inlined, since inlining it into every depth of the nest makes the row
// slower.
template <class Copy, class Place>
GASMETER_NOINLINE void innermost_loop(Copy copy, Place place, std::byte* to, const std::byte* from, RowStep step) {
  copy_row(copy, place, to, from, step);
}
// Copy by one loop per step as given, the first step innermost.
template <class Copy, class Place>
void copy_loops(Copy copy, Place place, std::byte* to, const std::byte* from, const RowStep* steps,
                std::size_t levels) {
  if (levels == 0) return copy(place.to(to), place.from(from));
  RowStep step = steps[levels - 1];
  if (levels == 1) return innermost_loop(copy, place, to, from, step);
  for (; step.count != 0; --step.count, to += step.to, from += step.from) {
    copy_loops(copy, place, to, from, steps, levels - 1);
  }
}

// Copy pieces at listed addresses. Four addresses of each list are read before the first store, as in copy_row().
template <class Copy, class Place>
void copy_listed(Copy copy, Place place, void* const* to, void* const* from, Bytes count) {
  const auto target = [&](Bytes i) { return place.to(static_cast<std::byte*>(to[i])); };
  const auto source = [&](Bytes i) { return place.from(static_cast<const std::byte*>(from[i])); };
  Bytes i = 0;
  for (; i + 4 <= count; i += 4) {
    std::byte* const t[4] = {target(i), target(i + 1), target(i + 2), target(i + 3)};
    const std::byte* const f[4] = {source(i), source(i + 1), source(i + 2), source(i + 3)};
    copy(t[0], f[0]);
    copy(t[1], f[1]);
    copy(t[2], f[2]);
    copy(t[3], f[3]);
  }
  for (; i < count; ++i) copy(target(i), source(i));
}

}  // namespace gasmeter
