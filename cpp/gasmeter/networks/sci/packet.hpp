// Packets that SCI cards exchange.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "gasmeter/base/units.hpp"
#include "gasmeter/sim/fabric/packet.hpp"

namespace gasmeter::networks::sci {

inline constexpr Bytes kLeastPacket = 16;     // a store of less than a line becomes one or several of these
inline constexpr Bytes kLine = 64;            // size of the core's write-combining buffers
inline constexpr Bytes kLargestPacket = 128;  // two lines that the bridge has gathered

class Segment;

enum class PacketOp : std::uint8_t { write, read, response };

// A packet between cards. Packet::kind says whose transaction the echo closes (SciCard).
struct SciPacket : sim::Packet {
  Segment* segment = nullptr;  // of the target: written or read, on the target's node alone
  Bytes at = 0;                // offset in the segment
  Rank owner{};                // owner of the segment; of a response: the rank that loads
  std::byte* into = nullptr;   // of a read and its response: destination in the loading rank
  PacketOp op = PacketOp::write;
  bool releases = false;  // the core of the sending card waits until this packet is a transaction
  std::uint8_t slot = 0;  // the transaction belongs to this slot of the card
  std::uint8_t size = 0;  // of the payload
  std::array<std::byte, kLargestPacket> payload;
};

}  // namespace gasmeter::networks::sci
