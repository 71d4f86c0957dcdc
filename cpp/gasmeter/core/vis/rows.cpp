#include "gasmeter/core/vis/rows.hpp"

#include <cstring>

#include "gasmeter/base/platform.hpp"

namespace gasmeter::core::vis {
namespace {

// A size the compiler knows: loads and stores, no call.
template <Bytes N>
struct Fixed {
  explicit Fixed(Bytes /*piece*/) {}
  GASMETER_INLINE void operator()(std::byte* to, const std::byte* from) const { std::memcpy(to, from, N); }
};

// N < size < 2 N: two that overlap.
template <Bytes N>
struct Overlapped {
  explicit Overlapped(Bytes piece) : last(piece - N) {}
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

struct Any {
  explicit Any(Bytes size) : piece(size) {}
  GASMETER_INLINE void operator()(std::byte* to, const std::byte* from) const { std::memcpy(to, from, piece); }
  Bytes piece;
};

template <class F>
GASMETER_INLINE void with_piece(Bytes piece, F&& f) {
  switch (piece) {
    case 0:
      return;
    case 1:
      return f(Fixed<1>(piece));
    case 2:
      return f(Fixed<2>(piece));
    case 4:
      return f(Fixed<4>(piece));
    case 8:
      return f(Fixed<8>(piece));
    case 16:
      return f(Fixed<16>(piece));
    case 32:
      return f(Fixed<32>(piece));
    case 64:
      return f(Fixed<64>(piece));
    default:
      if (piece > 64) return f(Any(piece));
      if (piece > 32) return f(Overlapped<32>(piece));
      if (piece > 16) return f(Overlapped<16>(piece));
      if (piece > 8) return f(Overlapped<8>(piece));
      if (piece > 4) return f(Overlapped<4>(piece));
      return f(Overlapped<2>(piece));
  }
}

// Four at a time: their addresses do not wait for each other. Steps and what `copy` holds come by value: a byte that is
// stored may change anything that the compiler knows by reference, and every step would be read again for every piece.
template <class Copy>
void plane(Copy copy, std::byte* to, const std::byte* from, Step inner, Step outer) {
  for (; outer.count != 0; --outer.count, to += outer.to, from += outer.from) {
    std::byte* t = to;
    const std::byte* f = from;
    Bytes left = inner.count;
    for (; left >= 4; left -= 4) {
      copy(t, f);
      copy(t + inner.to, f + inner.from);
      copy(t + 2 * inner.to, f + 2 * inner.from);
      copy(t + 3 * inner.to, f + 3 * inner.from);
      t += 4 * inner.to;
      f += 4 * inner.from;
    }
    for (; left != 0; --left, t += inner.to, f += inner.from) copy(t, f);
  }
}

// Four addresses of either list are read before anything is stored, for the same reason.
template <class Copy>
void indexed(Copy copy, Addresses to, Addresses from, Bytes count) {
  const auto target = [&](Bytes i) { return static_cast<std::byte*>(to.at[i]) + to.shift; };
  const auto source = [&](Bytes i) { return static_cast<const std::byte*>(from.at[i]) + from.shift; };
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

}  // namespace

void copy_plane(std::byte* to, const std::byte* from, Bytes piece, const Step& inner, const Step& outer) {
  with_piece(piece, [&](auto copy) { plane(copy, to, from, inner, outer); });
}

void copy_indexed(const Addresses& to, const Addresses& from, Bytes piece, Bytes count) {
  with_piece(piece, [&](auto copy) { indexed(copy, to, from, count); });
}

}  // namespace gasmeter::core::vis
