// A rank's command segments, one behind the other: slots into which others write messages. Memory of this computer is
// taken for those that have been written to.
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
  // Of a slot that has been written to; stays there until more is written to it.
  [[nodiscard]] std::byte* slot(std::uint32_t which) const { return slots_.at(which).get(); }

 private:
  static constexpr Bytes kSmall = 56;  // a header and little more: a line, with what its allocation takes

  Bytes slot_bytes_;
  std::unordered_map<std::uint32_t, std::unique_ptr<std::byte[]>> slots_;  // of kSmall
  std::unordered_set<std::uint32_t> whole_;                                // but these, which are whole
};

}  // namespace gasmeter::networks::sci
