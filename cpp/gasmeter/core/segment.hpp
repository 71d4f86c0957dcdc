// Memory that other ranks may address.
#pragma once

#include <cstddef>

#include "gasmeter/base/checked_arithmetic.hpp"
#include "gasmeter/base/units.hpp"

namespace gasmeter::core {

// A rank's segment as its owner sees it. Remote operations use the owner's addresses.
struct Segment {
  std::byte* address = nullptr;
  Bytes size = 0;

  // Tell whether [at, at + bytes) lies inside.
  [[nodiscard]] bool holds(const void* at, Bytes bytes) const {
    return lies_within(reinterpret_cast<std::uint64_t>(address), size, reinterpret_cast<std::uint64_t>(at), bytes);
  }
};

}  // namespace gasmeter::core
