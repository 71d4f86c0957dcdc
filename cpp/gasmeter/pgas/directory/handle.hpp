// Name of a shared object: the same at all ranks, and never that of another object.
#pragma once

#include <cstdint>
#include <string>

#include "gasmeter/base/units.hpp"

namespace gasmeter::pgas {

// Partition k holds objects made by rank k; the last partition (`ranks`) holds collective objects. The index names a
// slot and a generation, so that a freed object is not found again.
struct Handle {
  std::uint32_t partition = 0;
  std::uint32_t index = 0;

  static constexpr unsigned kSlotBits = 20;
  static constexpr std::uint32_t kSlots = 1U << kSlotBits;
  [[nodiscard]] constexpr std::uint32_t slot() const { return index & (kSlots - 1); }
  [[nodiscard]] constexpr std::uint32_t generation() const { return index >> kSlotBits; }
  [[nodiscard]] static constexpr Handle of(std::uint32_t partition, std::uint32_t slot, std::uint32_t generation) {
    return {partition, slot | generation << kSlotBits};
  }
  [[nodiscard]] constexpr std::uint64_t bits() const { return std::uint64_t{partition} << 32 | index; }
  constexpr bool operator==(const Handle&) const = default;
};

// Return a name for messages: object 3.0 of rank 1; object 3.0 of all.
[[nodiscard]] std::string name_of(Handle handle, std::uint32_t ranks);

}  // namespace gasmeter::pgas
