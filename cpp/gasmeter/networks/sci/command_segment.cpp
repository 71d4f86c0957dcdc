#include "gasmeter/networks/sci/command_segment.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace gasmeter::networks::sci {

void CommandSegment::store(Bytes at, std::span<const std::byte> bytes) {
  const auto which = static_cast<std::uint32_t>(at / slot_bytes_);
  const Bytes first = at % slot_bytes_;
  std::unique_ptr<std::byte[]>& memory = slots_[which];
  const bool is_small = first + bytes.size() <= kSmall;
  if (memory == nullptr && is_small) {
    memory = std::make_unique<std::byte[]>(kSmall);
  } else if (!is_small && whole_.insert(which).second) {
    auto whole = std::make_unique<std::byte[]>(slot_bytes_);
    if (memory != nullptr) std::memcpy(whole.get(), memory.get(), kSmall);
    memory = std::move(whole);
  }
  std::memcpy(memory.get() + first, bytes.data(), bytes.size());
}

void CommandSegment::load(Bytes at, std::span<std::byte> into) const {
  const auto which = static_cast<std::uint32_t>(at / slot_bytes_);
  const auto entry = slots_.find(which);
  const Bytes first = at % slot_bytes_;
  std::fill(into.begin(), into.end(), std::byte{0});
  const Bytes room = whole_.contains(which) ? slot_bytes_ : kSmall;
  if (entry == slots_.end() || first >= room) return;
  std::memcpy(into.data(), entry->second.get() + first, std::min(into.size(), room - first));
}

}  // namespace gasmeter::networks::sci
