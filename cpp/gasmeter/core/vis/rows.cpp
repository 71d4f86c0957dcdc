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

}  // namespace

// Four at a time: their addresses do not wait for each other.
void copy_plane(std::byte* to, const std::byte* from, Bytes piece, const Step& inner, const Step& outer) {
  with_piece(piece, [&](const auto& copy) {
    for (Bytes row = 0; row < outer.count; ++row) {
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
      to += outer.to;
      from += outer.from;
    }
  });
}

void copy_indexed(void* const* to, void* const* from, Bytes piece, Bytes count) {
  with_piece(piece, [&](const auto& copy) {
    for (; count >= 4; count -= 4, to += 4, from += 4) {
      for (int i = 0; i < 4; ++i) copy(static_cast<std::byte*>(to[i]), static_cast<const std::byte*>(from[i]));
    }
    for (Bytes i = 0; i < count; ++i) copy(static_cast<std::byte*>(to[i]), static_cast<const std::byte*>(from[i]));
  });
}

}  // namespace gasmeter::core::vis
