#include "gasmeter/networks/aries/request_slots.hpp"

#include <bit>

namespace gasmeter::networks::aries {

namespace {

constexpr unsigned kBits = 64;

bool is_used(const std::vector<std::uint64_t>& map, unsigned slot) {
  return (map[slot / kBits] >> (slot % kBits) & 1U) != 0;
}

}  // namespace

std::optional<unsigned> RequestSlots::take(Rank peer, unsigned many) {
  Map& map = areas_[index(peer)];
  if (map.empty()) map.resize((slots_ + kBits - 1) / kBits);
  unsigned free = 0;
  for (unsigned slot = 0; slot < slots_; ++slot) {
    free = is_used(map, slot) ? 0 : free + 1;
    if (free != many) continue;
    const unsigned first = slot + 1 - many;
    for (unsigned each = first; each <= slot; ++each) map[each / kBits] |= std::uint64_t{1} << (each % kBits);
    return first;
  }
  return std::nullopt;
}

void RequestSlots::give(Rank peer, unsigned first, unsigned many) {
  Map& map = areas_.find(index(peer))->second;
  for (unsigned each = first; each < first + many; ++each) map[each / kBits] &= ~(std::uint64_t{1} << (each % kBits));
}

unsigned RequestSlots::used(Rank peer) const {
  const auto area = areas_.find(index(peer));
  if (area == areas_.end()) return 0;
  unsigned sum = 0;
  for (const std::uint64_t word : area->second) sum += static_cast<unsigned>(std::popcount(word));
  return sum;
}

}  // namespace gasmeter::networks::aries
