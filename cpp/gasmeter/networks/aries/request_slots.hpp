// Which slots of its request areas a sender has in use: of each peer that it has sent to, a map.
//
// The areas lie at the peers; what is known of them is here. A message takes slots that follow each other, and does not
// go round the end.
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

  // Of each area.
  explicit RequestSlots(unsigned slots) : slots_(slots), words_((slots + kBits - 1) / kBits) {}

  // The first of so many, the lowest that will do. Nothing: they are in use.
  [[nodiscard]] std::optional<unsigned> take(Rank peer, unsigned many);
  void give(Rank peer, unsigned first, unsigned many);

  [[nodiscard]] unsigned slots() const { return slots_; }
  [[nodiscard]] unsigned used(Rank peer) const;
  [[nodiscard]] std::size_t peers() const { return peers_; }

 private:
  static constexpr std::uint32_t kNobody = 0xffffffffU;
  // Of the table: a peer, or a free place.
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
  std::vector<Known> table_;         // open, of a power of two places, half of them free
  std::vector<std::uint64_t> maps_;  // of each peer so many words: a bit for each slot, in use
};

}  // namespace gasmeter::networks::aries
