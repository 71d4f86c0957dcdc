// A rank's command segments, one behind the other: slots into which others write messages. Memory of this computer is
// taken for those that have been written to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>

#include "gasmeter/networks/sci/am_wire.hpp"
#include "gasmeter/networks/sci/segment.hpp"

namespace gasmeter::networks::sci {

class CommandSegment final : public Segment {
 public:
  explicit CommandSegment(const Layout& layout)
      : Segment(layout.command_bytes(), layout.command_bytes() / layout.ranks), slot_bytes_(layout.slot_bytes()) {}

  void store(Bytes at, std::span<const std::byte> bytes) override;
  void load(Bytes at, std::span<std::byte> into) const override;
  // Of a slot that has been written to; stays there until more is written to it.
  [[nodiscard]] std::byte* slot(std::uint32_t which) const { return slots_.at(which).memory.get(); }

 private:
  static constexpr Bytes kSmall = 128;  // a header, and little more

  struct Slot {
    std::unique_ptr<std::byte[]> memory;
    Bytes room = 0;
  };
  Bytes slot_bytes_;
  std::unordered_map<std::uint32_t, Slot> slots_;
};

}  // namespace gasmeter::networks::sci
