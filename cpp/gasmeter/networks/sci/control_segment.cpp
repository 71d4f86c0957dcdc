#include "gasmeter/networks/sci/control_segment.hpp"

#include <algorithm>

namespace gasmeter::networks::sci {

std::vector<ControlSegment::Flag>::const_iterator ControlSegment::place_of(std::uint32_t slot) const {
  return std::lower_bound(set_.begin(), set_.end(), slot,
                          [](const Flag& flag, std::uint32_t wanted) { return flag.slot < wanted; });
}

void ControlSegment::store(Bytes at, std::span<const std::byte> bytes) {
  for (const std::byte each : bytes) {
    const Bytes place = at++;
    if (place < layout_.slots()) {
      const auto slot = static_cast<std::uint32_t>(place);
      set_.insert(place_of(slot), {slot, each});
    } else if (layout_.queues == Queues::paired) {
      exists_ = each != std::byte{0};
    } else {
      taken_.resize(layout_.ranks);
      taken_[place - layout_.slots()] = std::to_integer<std::uint8_t>(each);
      news_ = true;
    }
  }
}

void ControlSegment::load(Bytes at, std::span<std::byte> into) const {
  for (std::byte& each : into) {
    const Bytes place = at++;
    each = std::byte{0};
    if (place < layout_.slots()) {
      const auto flag = place_of(static_cast<std::uint32_t>(place));
      if (flag != set_.end() && flag->slot == place) each = flag->says;
    } else if (layout_.queues == Queues::paired) {
      each = exists_ ? kMessage : std::byte{0};
    } else if (!taken_.empty()) {
      each = std::byte{taken_[place - layout_.slots()]};
    }
  }
}

std::optional<ControlSegment::Flag> ControlSegment::next(std::uint32_t from) const {
  const auto flag = place_of(from);
  return flag == set_.end() ? std::nullopt : std::optional(*flag);
}

void ControlSegment::clear(std::uint32_t slot) {
  set_.erase(place_of(slot));
}

}  // namespace gasmeter::networks::sci
