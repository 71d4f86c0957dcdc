// Copies of many equal pieces, specialised by their size: what a direct transfer, a packing and an unpacking come to.
#pragma once

#include <cstddef>
#include <span>

#include "gasmeter/base/units.hpp"

namespace gasmeter {

// `count` steps of so many bytes at either side.
struct RowStep {
  Bytes count = 1;
  std::ptrdiff_t to = 0;
  std::ptrdiff_t from = 0;
};

// The largest piece that is copied without a call.
inline constexpr Bytes kElementCopy = 64;

// For each step of `outer` a row of `inner` pieces. Pieces of one call must not overlap at the destination.
void copy_plane(std::byte* to, const std::byte* from, Bytes piece, const RowStep& inner, const RowStep& outer = {});

// A loop per step, the first one innermost, as they are given: nothing is folded. No steps: one piece.
void copy_nest(std::byte* to, const std::byte* from, Bytes piece, std::span<const RowStep> steps);

// A list of addresses, each of which is good here `shift` bytes further on.
struct Addresses {
  void* const* at = nullptr;
  std::ptrdiff_t shift = 0;
};

// `count` pieces of so many bytes at addresses of their own.
void copy_indexed(const Addresses& to, const Addresses& from, Bytes piece, Bytes count);

}  // namespace gasmeter
