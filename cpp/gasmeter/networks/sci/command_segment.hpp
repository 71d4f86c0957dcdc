// A rank's command segments, one behind the other: slots that its peers write messages into. Only slots that have been
// written to take memory of this computer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <unordered_set>

#include "gasmeter/networks/sci/am_wire.hpp"
#include "gasmeter/networks/sci/segment.hpp"

namespace gasmeter::networks::sci {

class CommandSegment final : public Segment {
 public:
  explicit CommandSegment(const Layout& layout)
      : Segment(layout.command_bytes(), layout.command_bytes() / layout.ranks), slot_bytes_(layout.slot_bytes()) {}

  void store(Bytes at, std::span<const std::byte> bytes) override;
  void load(Bytes at, std::span<std::byte> into) const override;
  // Return a slot that has been written to. The pointer is valid until the next store into that slot.
  [[nodiscard]] std::byte* slot(std::uint32_t which) const { return slots_.at(which).get(); }

 private:
  static constexpr Bytes kSmall = 56;  // a header and little more: one cache line with the allocator's overhead

  Bytes slot_bytes_;
  std::unordered_map<std::uint32_t, std::unique_ptr<std::byte[]>> slots_;  // of kSmall bytes
  std::unordered_set<std::uint32_t> whole_;                                // slots with all their bytes
};

}  // namespace gasmeter::networks::sci
