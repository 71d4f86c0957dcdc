// Which slots of its request areas a sender has in use: of each peer that it has sent to, a map.
//
// The areas lie at the peers; what is known of them is here. A message takes slots that follow each other, and does not
// go round the end.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "gasmeter/base/units.hpp"

namespace gasmeter::networks::aries {

class RequestSlots {
 public:
  // Of each area.
  explicit RequestSlots(unsigned slots) : slots_(slots) {}

  // The first of so many, the lowest that will do. Nothing: they are in use.
  [[nodiscard]] std::optional<unsigned> take(Rank peer, unsigned many);
  void give(Rank peer, unsigned first, unsigned many);

  [[nodiscard]] unsigned slots() const { return slots_; }
  [[nodiscard]] unsigned used(Rank peer) const;
  [[nodiscard]] std::size_t peers() const { return areas_.size(); }

 private:
  using Map = std::vector<std::uint64_t>;  // a bit for each slot: in use

  unsigned slots_;
  std::unordered_map<std::uint32_t, Map> areas_;  // looked up, never gone through: its order is nobody's
};

}  // namespace gasmeter::networks::aries
