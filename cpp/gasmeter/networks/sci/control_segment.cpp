#include "gasmeter/networks/sci/control_segment.hpp"

#include <algorithm>

namespace gasmeter::networks::sci {

std::vector<ControlSegment::Flag>::const_iterator ControlSegment::place_of(std::uint32_t slot) const {
  return std::lower_bound(set_.begin(), set_.end(), slot,
                          [](const Flag& flag, std::uint32_t wanted) { return flag.slot < wanted; });
}

void ControlSegment::store(Bytes at, std::span<const std::byte> bytes) {
  for (const std::byte each : bytes) {
    const auto slot = static_cast<std::uint32_t>(at++);
    if (slot == layout_.exist_flag()) {
      exists_ = each != std::byte{0};
    } else {
      set_.insert(place_of(slot), {slot, each});
    }
  }
}

void ControlSegment::load(Bytes at, std::span<std::byte> into) const {
  for (std::byte& each : into) {
    const auto slot = static_cast<std::uint32_t>(at++);
    const auto found = place_of(slot);
    each = std::byte{0};
    if (slot == layout_.exist_flag()) {
      each = exists_ ? kMessage : std::byte{0};
    } else if (found != set_.end() && found->slot == slot) {
      each = found->says;
    }
  }
}

std::optional<ControlSegment::Flag> ControlSegment::next(std::uint32_t from, bool replies_only) const {
  for (auto each = place_of(from); each != set_.end(); ++each) {
    if (!replies_only || layout_.is_reply(each->slot)) return *each;
  }
  return std::nullopt;
}

void ControlSegment::clear(std::uint32_t slot) {
  set_.erase(place_of(slot));
}

}  // namespace gasmeter::networks::sci
