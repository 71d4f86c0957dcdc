// One side of a transfer, as a walk that yields its bytes in order, for packing, unpacking and describing the other
// side in a message.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "gasmeter/base/platform.hpp"
#include "gasmeter/base/rows.hpp"
#include "gasmeter/base/units.hpp"
#include "gasmeter/conduit/host.hpp"
#include "gasmeter/conduit/instruction_counts.hpp"
#include "gasmeter/core/vis/shape.hpp"

namespace gasmeter::core::vis {

// Copy one piece.
template <class H>
GASMETER_INLINE void copy_piece(H& host, void* to, const void* from, Bytes bytes) {
  if constexpr (H::kModelled) {
    host.copy_piece(to, from, bytes);
  } else {
    host.copy(to, from, bytes);
  }
}

// Charge the loops that walk through pieces [first, last] of a nest. Level i has count(i) turns, and level 0 is the
// innermost. Every turn of a loop is charged, and every begin: one for each turn of the loop around it.
template <class H, class Count>
void charge_loops(H& host, std::uint32_t levels, Bytes first, Bytes last, Count&& count) {
  if constexpr (H::kModelled) {
    if (levels == 0) return;
    const Bytes innermost = last - first + 1;
    Bytes turns = 0;
    Bytes below = 1;
    for (std::uint32_t i = 0; i < levels; ++i) {
      turns += last / below - first / below + 1;
      below *= count(i);
    }
    host.charge(conduit::PrivatePrice::loop_turn, turns);
    host.charge(conduit::PrivatePrice::loop_level, turns - innermost + 1);
  }
}
// Charge one loop.
template <class H>
void charge_loop(H& host, Bytes pieces) {
  if (pieces != 0) charge_loops(host, 1, 0, pieces - 1, [&](std::uint32_t) { return pieces; });
}
// Charge for reading a strided description: folded to `left` levels, or unfolded (nesting).
template <class H>
void charge_folding(H& host, std::span<const Bytes> counts, Bytes left) {
  if constexpr (H::kModelled) {
    const auto several = std::count_if(counts.begin(), counts.end(), [](Bytes count) { return count > 1; });
    host.charge(conduit::PrivatePrice::describe,
                conduit::folding(counts.size(), static_cast<std::uint64_t>(several), left));
  }
}
template <class H>
void charge_nesting(H& host, Bytes levels) {
  if constexpr (H::kModelled) host.charge(conduit::PrivatePrice::describe, conduit::nesting(levels));
}
// Charge look-ups of a neighbour's addresses.
template <class H>
void charge_translations(H& host, Bytes addresses) {
  if constexpr (H::kModelled) host.charge(conduit::PrivatePrice::translation, addresses);
}

// Copy rows at the host's price. A modelled host charges each piece, a real host copies whole rows.
template <class H>
void copy_plane(H& host, std::byte* to, const std::byte* from, Bytes piece, const RowStep& inner,
                const RowStep& outer = {}) {
  if constexpr (H::kModelled) {
    for (Bytes i = 0; i < outer.count; ++i) {
      for (Bytes j = 0; j < inner.count; ++j) {
        const auto row = static_cast<std::ptrdiff_t>(i);
        const auto column = static_cast<std::ptrdiff_t>(j);
        host.copy_piece(to + row * outer.to + column * inner.to, from + row * outer.from + column * inner.from, piece);
      }
    }
  } else {
    gasmeter::copy_plane(to, from, piece, inner, outer);
  }
}

// One side of a strided transfer. Its first wire_bytes() bytes are sent in messages.
struct StridedSide {
  struct OneLevel {
    Bytes count;
    std::ptrdiff_t stride;
  };
  std::byte* base;
  Bytes element;
  std::array<OneLevel, kMostLevels> level;
  std::uint32_t levels;

  // Return the bytes of a description that a peer has made; nothing if it has none, or more than 64 bits hold.
  [[nodiscard]] std::optional<Bytes> total() const {
    Bytes all = element;
    for (std::uint32_t i = 0; i < levels; ++i) {
      if (__builtin_mul_overflow(all, level[i].count, &all)) return std::nullopt;
    }
    return all != 0 ? std::optional(all) : std::nullopt;
  }
  [[nodiscard]] std::optional<Extent> extent() const {
    return extent_of_levels(element, levels,
                            [this](std::size_t i) { return std::pair(level[i].count, level[i].stride); });
  }

  [[nodiscard]] static constexpr Bytes wire_bytes(std::uint32_t levels) { return 16 + 16 * Bytes{levels}; }

  static void fill(StridedSide& side, const Shape& shape, bool peer) {
    side.base = peer ? shape.peer : shape.self;
    side.element = shape.element;
    side.levels = shape.levels;
    for (std::uint32_t i = 0; i < shape.levels; ++i) {
      side.level[i] = {shape.level[i].count, peer ? shape.level[i].peer : shape.level[i].self};
    }
  }

  // Call row(address, stride, count, piece) for [start, start + bytes) of the side's bytes, in order.
  template <class Row>
  void rows(Bytes start, Bytes bytes, Row&& row) const {
    if (bytes == 0) return;
    if (levels == 0) return row(base + start, std::ptrdiff_t{0}, Bytes{1}, bytes);
    std::array<Bytes, kMostLevels> digit;  // only the first `levels` entries are used
    std::byte* at = base;
    Bytes number = start / element;
    for (std::uint32_t i = 0; i < levels; ++i) {
      digit[i] = number % level[i].count;
      number /= level[i].count;
      at += static_cast<std::ptrdiff_t>(digit[i]) * level[i].stride;
    }
    const auto advance = [&](Bytes steps) {
      digit[0] += steps;
      at += static_cast<std::ptrdiff_t>(steps) * level[0].stride;
      for (std::uint32_t i = 0; digit[i] == level[i].count && i + 1 < levels; ++i) {
        at += level[i + 1].stride - static_cast<std::ptrdiff_t>(level[i].count) * level[i].stride;
        digit[i] = 0;
        ++digit[i + 1];
      }
    };
    if (const Bytes offset = start % element; offset != 0) {
      const Bytes part = std::min(bytes, element - offset);
      row(at + offset, std::ptrdiff_t{0}, Bytes{1}, part);
      bytes -= part;
      advance(1);
    }
    while (bytes >= element) {
      const Bytes count = std::min(level[0].count - digit[0], bytes / element);
      row(at, level[0].stride, count, element);
      bytes -= count * element;
      advance(count);
    }
    if (bytes != 0) row(at, std::ptrdiff_t{0}, Bytes{1}, bytes);
  }
};

template <class H>
void charge_loops(H& host, const StridedSide& side, Bytes start, Bytes bytes) {
  if (bytes == 0) return;
  charge_loops(host, side.levels, start / side.element, (start + bytes - 1) / side.element,
               [&](std::uint32_t i) { return side.level[i].count; });
}

template <class H>
void pack(H& host, const StridedSide& side, Bytes start, Bytes bytes, std::byte* to) {
  charge_loops(host, side, start, bytes);
  side.rows(start, bytes, [&](const std::byte* from, std::ptrdiff_t stride, Bytes count, Bytes piece) {
    copy_plane(host, to, from, piece, {count, static_cast<std::ptrdiff_t>(piece), stride});
    to += count * piece;
  });
}

template <class H>
void unpack(H& host, const StridedSide& side, Bytes start, Bytes bytes, const std::byte* from) {
  charge_loops(host, side, start, bytes);
  side.rows(start, bytes, [&](std::byte* to, std::ptrdiff_t stride, Bytes count, Bytes piece) {
    copy_plane(host, to, from, piece, {count, stride, static_cast<std::ptrdiff_t>(piece)});
    from += count * piece;
  });
}

[[nodiscard]] inline RowStep step_of(const Level& level, bool to_peer) {
  return to_peer ? RowStep{level.count, level.peer, level.self} : RowStep{level.count, level.self, level.peer};
}

// Copy directly from one side's pieces to the other's.
template <class H>
void copy_shape(H& host, const Shape& shape, bool to_peer) {
  charge_loops(host, shape.levels, 0, shape.pieces() - 1, [&](std::uint32_t i) { return shape.level[i].count; });
  std::byte* to = to_peer ? shape.peer : shape.self;
  const std::byte* from = to_peer ? shape.self : shape.peer;
  const auto step = [&](std::uint32_t i) { return i < shape.levels ? step_of(shape.level[i], to_peer) : RowStep{}; };
  const RowStep inner = step(0);
  const RowStep outer = step(1);
  if (shape.levels <= 2) {
    copy_plane(host, to, from, shape.element, inner, outer);
    return;
  }
  std::array<Bytes, kMostLevels> digit;
  std::fill_n(digit.begin(), shape.levels, 0);
  while (true) {
    copy_plane(host, to, from, shape.element, inner, outer);
    std::uint32_t i = 2;
    for (; i < shape.levels; ++i) {
      const RowStep level_step = step(i);
      to += level_step.to;
      from += level_step.from;
      if (++digit[i] < level_step.count) break;
      to -= static_cast<std::ptrdiff_t>(level_step.count) * level_step.to;
      from -= static_cast<std::ptrdiff_t>(level_step.count) * level_step.from;
      digit[i] = 0;
    }
    if (i == shape.levels) return;
  }
}

// ---- lists

struct Piece {
  void* at = nullptr;
  Bytes bytes = 0;
};

// A list of pieces: with sizes of their own, or of one size at many addresses. It is a view of the client's list.
struct ListSide {
  const Piece* pieces = nullptr;  // null: `addresses` is used
  void* const* addresses = nullptr;
  Bytes bytes = 0;  // size of each piece in `addresses`
  std::size_t count = 0;

  [[nodiscard]] bool is_uniform() const { return pieces == nullptr; }
  [[nodiscard]] std::byte* at(std::size_t i) const {
    return static_cast<std::byte*>(pieces != nullptr ? pieces[i].at : addresses[i]);
  }
  [[nodiscard]] Bytes size(std::size_t i) const { return pieces != nullptr ? pieces[i].bytes : bytes; }
  [[nodiscard]] Bytes total() const {
    if (is_uniform()) return bytes * count;
    Bytes all = 0;
    for (std::size_t i = 0; i < count; ++i) all += pieces[i].bytes;
    return all;
  }
};

// A place in a list. It is never at the end of a piece, except at the end of the list.
struct ListPlace {
  std::size_t piece = 0;
  Bytes offset = 0;

  // Tell whether a place that a peer has sent is valid, with `bytes` bytes of the list behind it.
  [[nodiscard]] bool is_before(const ListSide& list, Bytes bytes) const {
    if (piece >= list.count || offset > list.size(piece)) return false;
    Bytes left = list.size(piece) - offset;
    for (std::size_t i = piece + 1; left < bytes && i < list.count; ++i) left += list.size(i);
    return left >= bytes;
  }
  // Return the number of contiguous bytes from here on, at most `most`; 0 at the end.
  [[nodiscard]] Bytes run(const ListSide& list, Bytes most) {
    while (piece < list.count && offset == list.size(piece)) {
      ++piece;
      offset = 0;
    }
    return piece < list.count ? std::min(most, list.size(piece) - offset) : 0;
  }
  [[nodiscard]] std::byte* address(const ListSide& list) const { return list.at(piece) + offset; }
};

// Call f(address, bytes) for the next `bytes` bytes and advance the place. The list must have as many left.
template <class F>
void for_pieces(const ListSide& list, ListPlace& place, Bytes bytes, F&& f) {
  while (bytes != 0) {
    const Bytes run = place.run(list, bytes);
    f(place.address(list), run);
    place.offset += run;
    bytes -= run;
  }
}

template <class H>
void pack(H& host, const ListSide& list, ListPlace& place, Bytes bytes, std::byte* to) {
  Bytes pieces = 0;
  for_pieces(list, place, bytes, [&](const std::byte* from, Bytes piece) {
    copy_piece(host, to, from, piece);
    to += piece;
    ++pieces;
  });
  charge_loop(host, pieces);
}
template <class H>
void unpack(H& host, const ListSide& list, ListPlace& place, Bytes bytes, const std::byte* from) {
  Bytes pieces = 0;
  for_pieces(list, place, bytes, [&](std::byte* to, Bytes piece) {
    copy_piece(host, to, from, piece);
    from += piece;
    ++pieces;
  });
  charge_loop(host, pieces);
}

// Call f(self's address, peer's address, bytes) for every run that is contiguous at both sides.
template <class F>
void for_pairs(const ListSide& self, const ListSide& peer, F&& f) {
  ListPlace self_place;
  ListPlace peer_place;
  constexpr Bytes kAll = ~Bytes{0};
  while (const Bytes run = peer_place.run(peer, self_place.run(self, kAll))) {
    f(self_place.address(self), peer_place.address(peer), run);
    self_place.offset += run;
    peer_place.offset += run;
  }
}

// Call f likewise for every piece of a shape.
template <class F>
void for_pairs(const Shape& shape, F&& f) {
  std::array<Bytes, kMostLevels> digit;
  std::fill_n(digit.begin(), shape.levels, 0);
  std::byte* self = shape.self;
  std::byte* peer = shape.peer;
  while (true) {
    f(self, peer, shape.element);
    std::uint32_t i = 0;
    for (; i < shape.levels; ++i) {
      const Level& level = shape.level[i];
      self += level.self;
      peer += level.peer;
      if (++digit[i] < level.count) break;
      self -= static_cast<std::ptrdiff_t>(level.count) * level.self;
      peer -= static_cast<std::ptrdiff_t>(level.count) * level.peer;
      digit[i] = 0;
    }
    if (i == shape.levels) return;
  }
}

// Tell whether the first two pieces touch at both sides, or a list has fewer than two: only then may the lists be one
// contiguous transfer.
[[nodiscard]] bool may_touch(const ListSide& self, const ListSide& peer);

// Tell whether both lists have equal pieces at equal distances. If so, set `shape` to the same transfer in one level.
[[nodiscard]] bool as_shape(const ListSide& self, const ListSide& peer, Shape& shape);

}  // namespace gasmeter::core::vis
