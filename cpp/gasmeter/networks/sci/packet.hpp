// What SCI cards exchange.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "gasmeter/base/units.hpp"
#include "gasmeter/sim/packet.hpp"

namespace gasmeter::networks::sci {

inline constexpr Bytes kLeastPacket = 16;     // what a store of less than a line becomes, one or several
inline constexpr Bytes kLine = 64;            // that the core's write-combining buffers hold
inline constexpr Bytes kLargestPacket = 128;  // two lines that the bridge has gathered

class Segment;

enum class PacketOp : std::uint8_t { write, read, response };

// Packet::kind says who is told of the echo (SciCard).
struct SciPacket : sim::Packet {
  Segment* segment = nullptr;  // of the target: written to or read from; touched on its node alone
  Bytes at = 0;                // in it
  Rank owner{};                // of the segment; of a response: who loads
  std::byte* into = nullptr;   // of a read and its response: where the loading core wants it
  PacketOp op = PacketOp::write;
  bool releases = false;  // its card's core waits until this packet is a transaction
  std::uint8_t slot = 0;  // whose transaction it is
  std::uint8_t size = 0;  // of the payload
  std::array<std::byte, kLargestPacket> payload;
};

}  // namespace gasmeter::networks::sci
