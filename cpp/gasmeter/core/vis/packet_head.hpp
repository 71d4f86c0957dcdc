// Heads of messages of packed pieces, before the pieces' bytes: README.md, Packets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "gasmeter/base/units.hpp"
#include "gasmeter/conduit/am.hpp"
#include "gasmeter/core/vis/side.hpp"
#include "gasmeter/core/vis/vis.hpp"
#include "gasmeter/core/word_halves.hpp"

namespace gasmeter::core::vis {

// Round up to 16 bytes, so that the payload of the peer's completion handler, which comes first, and the rest are
// aligned for any type.
[[nodiscard]] constexpr Bytes padded(Bytes bytes) {
  return (bytes + 15) / 16 * 16;
}

// Return the size of a list's entry: the address of a piece of `uniform` bytes or, if that is 0, {address, bytes}.
[[nodiscard]] constexpr Bytes list_entry_bytes(Bytes uniform) {
  return uniform != 0 ? 8 : 16;
}

// Reader and writer of a list's entries in a packet: addresses of pieces of `uniform` bytes, or {address, bytes}.
struct WireList {
  std::byte* at;
  Bytes uniform;

  void add(const std::byte* address, Bytes bytes) {
    const std::uint64_t words[2] = {bits(address), bytes};
    std::memcpy(at, words, list_entry_bytes(uniform));
    at += list_entry_bytes(uniform);
  }
  // Call f(address, bytes) for `count` entries.
  template <class F>
  void read(std::size_t count, F&& f) {
    for (std::size_t i = 0; i < count; ++i, at += list_entry_bytes(uniform)) {
      std::uint64_t words[2] = {0, uniform};
      std::memcpy(words, at, list_entry_bytes(uniform));
      f(reinterpret_cast<std::byte*>(words[0]), static_cast<Bytes>(words[1]));
    }
  }
};

// Part of the peer's list that one packet takes.
struct ListShare {
  Bytes uniform = 0;  // size of the pieces if all are whole and equal; 0: sizes are listed
  std::size_t entries = 0;
  Bytes data = 0;
};

// Return how many bytes of a message's payload describe places; 0 for messages other than Vis'. A request for pieces
// has no other payload.
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
