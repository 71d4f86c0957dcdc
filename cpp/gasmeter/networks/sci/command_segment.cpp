#include "gasmeter/networks/sci/command_segment.hpp"

#include <algorithm>
#include <cstring>

namespace gasmeter::networks::sci {

void CommandSegment::store(Bytes at, std::span<const std::byte> bytes) {
  Slot& slot = slots_[static_cast<std::uint32_t>(at / slot_bytes_)];
  const Bytes first = at % slot_bytes_;
  if (first + bytes.size() > slot.room) {
    const Bytes room = first + bytes.size() <= kSmall ? kSmall : slot_bytes_;
    auto larger = std::make_unique<std::byte[]>(room);
    if (slot.room != 0) std::memcpy(larger.get(), slot.memory.get(), slot.room);
    slot = {std::move(larger), room};
  }
  std::memcpy(slot.memory.get() + first, bytes.data(), bytes.size());
}

void CommandSegment::load(Bytes at, std::span<std::byte> into) const {
  const auto found = slots_.find(static_cast<std::uint32_t>(at / slot_bytes_));
  const Bytes first = at % slot_bytes_;
  std::fill(into.begin(), into.end(), std::byte{0});
  if (found == slots_.end() || first >= found->second.room) return;
  std::memcpy(into.data(), found->second.memory.get() + first, std::min(into.size(), found->second.room - first));
}

}  // namespace gasmeter::networks::sci
