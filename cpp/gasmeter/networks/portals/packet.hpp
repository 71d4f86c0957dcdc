// Packets that cards exchange. A message is a header packet, followed by the payload that does not fit into it.
//
// A packet of payload has 64 bytes. The model sends up to 32 consecutive ones of a message as one. Links are busy for
// the same time, and the first byte is no later.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "gasmeter/base/units.hpp"
#include "gasmeter/networks/portals/match_table.hpp"
#include "gasmeter/sim/fabric/intrusive_queue.hpp"
#include "gasmeter/sim/fabric/packet.hpp"

namespace gasmeter::networks::portals {

inline constexpr Bytes kMostInHeader = 64;
inline constexpr Bytes kMostPacket = 64;
inline constexpr Bytes kPacketsOfBurst = 32;

enum class PacketKind : std::uint8_t { put, get, ack, reply, payload };

class SeaStar;

struct HeaderPacket : sim::Packet {
  Operation operation;  // of an answer: the operation that it answers
  Rank target{};        // receiver of this message
  std::uint64_t header_data = 0;
  MdHandle initiator_md;
  Bytes initiator_offset = 0;  // destination of a reply
  Bytes manipulated = 0;       // of an answer: bytes that the target has moved
  Bytes target_offset = 0;     // of an answer: where the target has moved them
  bool wants_ack = false;

  // ---- state at its target
  SeaStar* card = nullptr;
  sim::IntrusiveQueue<sim::Packet> waiting;  // payload that arrived before its destination was known
  std::byte* write_at = nullptr;
  MdHandle md;
  Bytes to_write = 0;  // of the payload, from its beginning
  Bytes to_come = 0;   // payload behind the header that is not yet written
  enum class Payload : std::uint8_t { waits, is_written, is_dropped } state{};

  std::array<std::byte, kMostInHeader> payload;
};

struct DataPacket : sim::Packet {
  HeaderPacket* header = nullptr;  // of its message; it reaches the target first
  Bytes before = 0;                // bytes of the message in earlier packets
  std::uint16_t size = 0;
  std::array<std::byte, kMostPacket * kPacketsOfBurst> payload;
};

}  // namespace gasmeter::networks::portals
