#include "gasmeter/networks/aries/event.hpp"

#include <array>

namespace gasmeter::networks::aries {

const char* name_of(EventType type) {
  static constexpr std::array<const char*, 4> names = {"LOCAL_EVENT", "GLOBAL_EVENT", "REMOTE_EVENT", "CQ_WRITE"};
  return names.at(static_cast<std::size_t>(type));
}

}  // namespace gasmeter::networks::aries
