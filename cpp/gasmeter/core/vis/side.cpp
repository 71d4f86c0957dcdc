#include "gasmeter/core/vis/side.hpp"

#include <cstdint>
#include <optional>

namespace gasmeter::core::vis {
namespace {

// Addresses are compared in blocks that the compiler vectorises. An irregular list is recognised after the first
// block.
constexpr std::size_t kBlock = 64;

std::uintptr_t address_of(const ListSide& list, std::size_t i) {
  return reinterpret_cast<std::uintptr_t>(list.at(i));
}

// Return the distance between neighbouring addresses if it is the same throughout.
std::optional<std::ptrdiff_t> common_distance(const ListSide& list) {
  if (list.count == 1) return 0;
  const std::uintptr_t distance = address_of(list, 1) - address_of(list, 0);
  std::size_t i = 1;
  if (list.is_uniform()) {
    const auto at = [&](std::size_t j) { return reinterpret_cast<std::uintptr_t>(list.addresses[j]); };
    std::uintptr_t expected = at(1);
    for (; i + kBlock <= list.count; i += kBlock) {
      std::uintptr_t differs = 0;
      for (std::size_t j = i; j < i + kBlock; ++j, expected += distance) differs |= at(j) ^ expected;
      if (differs != 0) return std::nullopt;
    }
  }
  for (; i < list.count; ++i) {
    if (address_of(list, i) - address_of(list, i - 1) != distance || list.size(i) != list.size(0)) return std::nullopt;
  }
  return static_cast<std::ptrdiff_t>(distance);
}

}  // namespace

bool may_touch(const ListSide& self, const ListSide& peer) {
  const auto touch = [](const ListSide& list) {
    return list.count < 2 || address_of(list, 1) - address_of(list, 0) == list.size(0);
  };
  return touch(self) && touch(peer);
}

bool as_shape(const ListSide& self, const ListSide& peer, Shape& shape) {
  if (self.count == 0 || self.count != peer.count || self.size(0) != peer.size(0)) return false;
  const auto self_distance = common_distance(self);
  if (!self_distance) return false;
  const auto peer_distance = common_distance(peer);
  if (!peer_distance) return false;
  return optimised_shape(shape, self.at(0), {&*self_distance, 1}, peer.at(0), {&*peer_distance, 1}, self.size(0),
                         {&self.count, 1});
}

}  // namespace gasmeter::core::vis
