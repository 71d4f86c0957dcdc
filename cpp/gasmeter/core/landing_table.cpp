#include "gasmeter/core/landing_table.hpp"

#include <utility>

namespace gasmeter::core {

LandingId LandingTable::open(const Landing& landing) {
  std::uint32_t index = first_free_;
  if (index == kEnd) {
    index = static_cast<std::uint32_t>(places_.size());
    places_.emplace_back();
  }
  Place& place = places_[index];
  first_free_ = place.next_free;
  place.landing = landing;
  place.is_open = true;
  ++outstanding_;
  return {index, place.generation};
}

std::optional<void*> LandingTable::claim(LandingId id, const Landing& reply) {
  if (id.place >= places_.size()) return std::nullopt;
  const Place& place = places_[id.place];
  if (!place.is_open || place.generation != id.generation) return std::nullopt;
  Landing expected = place.landing;
  void* const at = std::exchange(expected.at, reply.at);
  if (expected != reply) return std::nullopt;
  close(id);
  return at;
}

void LandingTable::close(LandingId id) {
  Place& place = places_[id.place];
  place.is_open = false;
  ++place.generation;
  place.next_free = first_free_;
  first_free_ = id.place;
  --outstanding_;
}

}  // namespace gasmeter::core
