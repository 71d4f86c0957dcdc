// Map of the slots that a sender uses in its request areas, for each peer that it has sent to.
//
// The areas lie at the peers, the maps at the sender. A message takes consecutive slots that do not wrap around the
// end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "gasmeter/base/units.hpp"

namespace gasmeter::networks::aries {

class RequestSlots {
 public:
  static constexpr unsigned kBits = 64;  // of a word of a map

  // `slots`: of each area.
  explicit RequestSlots(unsigned slots) : slots_(slots), words_((slots + kBits - 1) / kBits) {}

  // Take `many` consecutive slots, the lowest that are free. Return the first, or nothing if there are none.
  [[nodiscard]] std::optional<unsigned> take(Rank peer, unsigned many);
  void give(Rank peer, unsigned first, unsigned many);

  [[nodiscard]] unsigned slots() const { return slots_; }
  [[nodiscard]] unsigned used(Rank peer) const;
  [[nodiscard]] std::size_t peers() const { return peers_; }

 private:
  static constexpr std::uint32_t kNobody = 0xffffffffU;
  // Entry of the table: a peer, or a free place.
  struct Known {
    std::uint32_t peer = kNobody;
    std::uint32_t map = 0;  // number of its map
  };

  [[nodiscard]] std::size_t place_of(Rank peer) const;
  [[nodiscard]] std::span<std::uint64_t> map_of(Rank peer);
  [[nodiscard]] std::span<std::uint64_t> words(std::uint32_t map) { return {maps_.data() + map * words_, words_}; }
  void grow();

  unsigned slots_;
  std::size_t words_;
  std::size_t peers_ = 0;
  std::vector<Known> table_;         // open hash table with a power of two places, half of them free
  std::vector<std::uint64_t> maps_;  // words_ words for each peer: a bit for each slot, set if in use
};

}  // namespace gasmeter::networks::aries
