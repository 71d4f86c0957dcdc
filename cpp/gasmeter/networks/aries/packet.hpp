// What cards exchange.
//
// Packets have up to 64 B of payload. Those of one post that follow each other go as one here, up to the grain: a link
// is as busy with them, and the last byte is no later.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "gasmeter/base/units.hpp"
#include "gasmeter/networks/aries/post_descriptor.hpp"
#include "gasmeter/sim/packet.hpp"

namespace gasmeter::networks::aries {

inline constexpr Bytes kMostPacket = 64;
inline constexpr Bytes kMostGrain = 2048;
inline constexpr unsigned kMostEngines = 8;

enum class PacketKind : std::uint8_t {
  put,       // all of it
  put_data,  // a piece
  get,       // asks
  got,       // all of it
  got_data,  // a piece
  amo,       // asks
  fetched,   // what was there
  control,   // a CQ write
  written,   // a put's bytes are at the target, a CQ write in its queue
  done,      // an atomic that fetches nothing
};

struct BteEngine;
class Domain;

// A post on its way to its target and back. What has more payload than fits is described by it, and goes in
// DataPackets; whoever has the last of those has it, too.
struct RequestPacket : sim::Packet {
  Domain* domain = nullptr;  // which asks; touched on its own node alone
  Rank origin{};
  Rank target{};
  PostType type{};
  CqMode cq_mode = kNoEvent;
  AmoCommand command{};
  AmoType amo_type{};
  bool fetches = false;
  std::uint32_t flow = 0;  // of its packets

  std::uint64_t post_id = 0;
  CqHandle events;  // of the origin
  std::uint32_t remote_event = 0;
  std::byte* local = nullptr;  // of the origin
  std::byte* remote = nullptr;
  MemoryHandle remote_memory;
  Bytes length = 0;
  Bytes to_come = 0;  // that is not written yet, of the side that writes
  std::uint64_t* flag = nullptr;
  AmoOperands operands{};  // or the flag's or the control's value

  // Of the origin: what its core stores in place of it; of a piece of an RDMA get, who has asked for it, and of which.
  sim::PacketQueue data;
  BteEngine* engine = nullptr;
  RequestPacket* whole = nullptr;

  std::array<std::byte, kMostPacket> payload;
};

struct DataPacket : sim::Packet {
  RequestPacket* request = nullptr;
  BteEngine* engine = nullptr;         // that sends it; null: none
  const std::byte* read_at = nullptr;  // of an answer to a get: when it leaves
  Bytes before = 0;                    // bytes of the request in front
  std::uint16_t size = 0;
  std::array<std::byte, kMostGrain> payload;
};

[[nodiscard]] inline PacketKind kind_of(const sim::Packet& packet) {
  return static_cast<PacketKind>(packet.kind);
}
inline void set_kind(sim::Packet& packet, PacketKind kind) {
  packet.kind = static_cast<std::uint8_t>(kind) & 0x7fU;
}

}  // namespace gasmeter::networks::aries
