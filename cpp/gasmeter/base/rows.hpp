// Copies of many equal pieces, specialised by their size. Direct transfers, packing and unpacking all use them.
#pragma once

#include <cstddef>
#include <span>

#include "gasmeter/base/units.hpp"

namespace gasmeter {

// `count` pieces, `to` and `from` bytes apart at the destination and at the source.
struct RowStep {
  Bytes count = 1;
  std::ptrdiff_t to = 0;
  std::ptrdiff_t from = 0;
};

// The largest piece that is copied without a call.
inline constexpr Bytes kElementCopy = 64;

// Copy a row of `inner` pieces for each step of `outer`. The pieces of one call must not overlap at the destination.
void copy_plane(std::byte* to, const std::byte* from, Bytes piece, const RowStep& inner, const RowStep& outer = {});

// Copy by one loop per step as given, the first step innermost; no steps are folded. Without steps, copy one piece.
void copy_nest(std::byte* to, const std::byte* from, Bytes piece, std::span<const RowStep> steps);

// A list of addresses. This process adds `shift` bytes to each of them.
struct Addresses {
  void* const* at = nullptr;
  std::ptrdiff_t shift = 0;
};

// Copy `count` pieces of `piece` bytes at listed addresses.
void copy_indexed(const Addresses& to, const Addresses& from, Bytes piece, Bytes count);

}  // namespace gasmeter
