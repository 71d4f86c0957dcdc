// Memory that other ranks may address.
#pragma once

#include <cstddef>

#include "gasmeter/base/units.hpp"

namespace gasmeter::core {

// A rank's segment as its owner sees it. Remote operations use the owner's addresses.
struct Segment {
  std::byte* address = nullptr;
  Bytes size = 0;

  // Tell whether [at, at + bytes) lies inside.
  [[nodiscard]] bool holds(const void* at, Bytes bytes) const {
    const auto offset = static_cast<Bytes>(static_cast<const std::byte*>(at) - address);
    return static_cast<const std::byte*>(at) >= address && offset <= size && bytes <= size - offset;
  }
};

}  // namespace gasmeter::core
