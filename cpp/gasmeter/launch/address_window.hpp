// Addresses that the launcher sets aside before it forks, so that every native rank maps the job's memory at the same
// place: a neighbour's address then needs no translation.
#pragma once

#include <cstddef>

#include "gasmeter/base/units.hpp"

namespace gasmeter::launch {

struct AddressWindow {
  std::byte* base = nullptr;  // null: no window; the kernel chooses where mappings go
  Bytes size = 0;

  // Set addresses aside; takes no memory. Returns an empty window where the system grants none (limits on address
  // space); nothing depends on it.
  [[nodiscard]] static AddressWindow set_aside();

  // Return the address of `offset` bytes into the job file; null if outside the window.
  [[nodiscard]] std::byte* place(Bytes offset, Bytes bytes) const {
    return base != nullptr && offset <= size && bytes <= size - offset ? base + offset : nullptr;
  }
};

}  // namespace gasmeter::launch
