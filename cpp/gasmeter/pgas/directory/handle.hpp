// The name of a shared object: the same at all ranks, whoever made it, and never that of another one.
#pragma once

#include <cstdint>
#include <string>

#include "gasmeter/base/units.hpp"

namespace gasmeter::pgas {

// Partition k holds what rank k has made, the last one (`ranks`) what all have made together. The index names a slot
// and how often that has been taken: what was freed is not found again.
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

// For messages: object 3 of rank 1; object 3 of all.
[[nodiscard]] std::string name_of(Handle handle, std::uint32_t ranks);

}  // namespace gasmeter::pgas
