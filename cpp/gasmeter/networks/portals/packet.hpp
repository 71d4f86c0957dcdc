// What cards exchange: a message is a header packet, and behind it the payload that does not fit there.
//
// Packets of payload have 64 bytes. Up to 32 of one message that follow each other go as one here: a link is as busy
// with them, and their first byte is no later.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "gasmeter/base/units.hpp"
#include "gasmeter/networks/portals/match_table.hpp"
#include "gasmeter/sim/intrusive_queue.hpp"
#include "gasmeter/sim/packet.hpp"

namespace gasmeter::networks::portals {

inline constexpr Bytes kMostInHeader = 64;
inline constexpr Bytes kMostPacket = 64;
inline constexpr Bytes kPacketsOfBurst = 32;

enum class PacketKind : std::uint8_t { put, get, ack, reply, payload };

class SeaStar;

struct HeaderPacket : sim::Packet {
  Operation operation;  // of an answer, the one that it answers
  Rank target{};        // whom this message is for
  std::uint64_t header_data = 0;
  MdHandle initiator_md;
  Bytes initiator_offset = 0;  // where a reply goes
  Bytes manipulated = 0;       // of an answer, what the target has moved
  Bytes target_offset = 0;     // and where
  bool wants_ack = false;

  // ---- at its target
  SeaStar* card = nullptr;
  sim::IntrusiveQueue<sim::Packet> waiting;  // payload that has come before it was known where to
  std::byte* write_at = nullptr;
  MdHandle md;
  Bytes to_write = 0;  // of the payload, from its beginning
  Bytes to_come = 0;   // of the payload behind the header, until it is written
  enum class Payload : std::uint8_t { waits, is_written, is_dropped } state{};

  std::array<std::byte, kMostInHeader> payload;
};

struct DataPacket : sim::Packet {
  HeaderPacket* header = nullptr;  // of its message, which is at the target before it
  Bytes before = 0;                // bytes of the message in front
  std::uint16_t size = 0;
  std::array<std::byte, kMostPacket * kPacketsOfBurst> payload;
};

}  // namespace gasmeter::networks::portals
