#include "gasmeter/base/rows.hpp"

#include "gasmeter/base/element_copy.hpp"

namespace gasmeter {
namespace {

template <class Copy>
void plane(Copy copy, std::byte* to, const std::byte* from, RowStep inner, RowStep outer) {
  for (; outer.count != 0; --outer.count, to += outer.to, from += outer.from)
    copy_row(copy, InPlace{}, to, from, inner);
}

struct Shifted {
  GASMETER_INLINE std::byte* to(std::byte* at) const { return at + to_shift; }
  GASMETER_INLINE const std::byte* from(const std::byte* at) const { return at + from_shift; }
  std::ptrdiff_t to_shift;
  std::ptrdiff_t from_shift;
};

}  // namespace

void copy_plane(std::byte* to, const std::byte* from, Bytes piece, const RowStep& inner, const RowStep& outer) {
  with_piece(piece, [&](auto copy) { plane(copy, to, from, inner, outer); });
}

void copy_nest(std::byte* to, const std::byte* from, Bytes piece, std::span<const RowStep> steps) {
  with_piece(piece, [&](auto copy) { copy_loops(copy, InPlace{}, to, from, steps.data(), steps.size()); });
}

void copy_indexed(const Addresses& to, const Addresses& from, Bytes piece, Bytes count) {
  with_piece(piece, [&](auto copy) { copy_listed(copy, Shifted{to.shift, from.shift}, to.at, from.at, count); });
}

}  // namespace gasmeter
