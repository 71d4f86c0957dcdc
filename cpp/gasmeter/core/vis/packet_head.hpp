// What messages of packed pieces carry in front of the pieces' bytes: README.md, Packets.
#pragma once

#include "gasmeter/base/units.hpp"
#include "gasmeter/conduit/am.hpp"
#include "gasmeter/core/vis/side.hpp"
#include "gasmeter/core/vis/vis.hpp"

namespace gasmeter::core::vis {

// What runs at the peer lies before all else: aligned for any type, and so is what follows.
[[nodiscard]] constexpr Bytes padded(Bytes bytes) {
  return (bytes + 15) / 16 * 16;
}

// An entry of a list: the address of a piece of `uniform` bytes or, if that is 0, {address, bytes}.
[[nodiscard]] constexpr Bytes list_entry_bytes(Bytes uniform) {
  return uniform != 0 ? 8 : 16;
}

// Of a message of this library, the bytes of its payload that name places; of any other message 0. A request for pieces
// is nothing else.
[[nodiscard]] inline Bytes bytes_before_pieces(const conduit::AmView& message) {
  const auto argument = [&](std::size_t i) { return static_cast<std::uint32_t>(message.arguments[i]); };
  switch (index(message.handler)) {
    case index(kPutShape):
      return padded(argument(3)) + StridedSide::wire_bytes(argument(1));
    case index(kPutList):
      return padded(argument(4)) + list_entry_bytes(argument(2)) * argument(1);
    case index(kGetShape):
    case index(kGetList):
      return message.size;
    default:
      return 0;
  }
}

}  // namespace gasmeter::core::vis
