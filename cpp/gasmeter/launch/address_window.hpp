// Addresses that the launcher sets aside before it forks, so that every native rank maps the job's memory at the same
// place: a neighbour's address then needs no translation.
#pragma once

#include <cstddef>

#include "gasmeter/base/units.hpp"

namespace gasmeter::launch {

struct AddressWindow {
  std::byte* base = nullptr;  // null: none; mappings go wherever the kernel puts them
  Bytes size = 0;

  // Takes no memory, only addresses. Empty where the system grants none (limits on address space); nothing depends on
  // it.
  [[nodiscard]] static AddressWindow set_aside();

  // Where offset bytes into the job file belong; null if that is outside.
  [[nodiscard]] std::byte* place(Bytes offset, Bytes bytes) const {
    return base != nullptr && offset <= size && bytes <= size - offset ? base + offset : nullptr;
  }
};

}  // namespace gasmeter::launch
