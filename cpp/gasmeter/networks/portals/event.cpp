#include "gasmeter/networks/portals/event.hpp"

#include <array>

namespace gasmeter::networks::portals {

const char* name_of(EventType type) {
  static constexpr std::array<const char*, kEventTypes> names = {"SEND_START", "SEND_END",  "ACK",     "PUT_START",
                                                                 "PUT_END",    "GET_START", "GET_END", "REPLY_START",
                                                                 "REPLY_END",  "UNLINK"};
  return names.at(static_cast<std::size_t>(type));
}

}  // namespace gasmeter::networks::portals
