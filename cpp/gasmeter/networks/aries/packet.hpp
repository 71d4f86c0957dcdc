// Packets that cards exchange.
//
// A packet has up to 64 B of payload. The model sends consecutive packets of a post as one, up to the grain. A link is
// busy for the same time, and the last byte is no later.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "gasmeter/base/units.hpp"
#include "gasmeter/networks/aries/post_descriptor.hpp"
#include "gasmeter/sim/fabric/packet.hpp"

namespace gasmeter::networks::aries {

inline constexpr Bytes kMostPacket = 64;
inline constexpr Bytes kMostGrain = 2048;
inline constexpr unsigned kMostEngines = 8;

enum class PacketKind : std::uint8_t {
  put,       // a whole put
  put_data,  // a piece of a put
  get,       // request of a get
  got,       // a whole answer
  got_data,  // a piece of an answer
  amo,       // request of an atomic
  fetched,   // old value of the word
  control,   // a CQ write
  written,   // a put's bytes are at the target, a CQ write in its queue
  done,      // an atomic that fetches nothing is done
};

struct BteEngine;
class Domain;

// A post on its way to its target and back. A longer payload goes in DataPackets, and the receiver of the last one owns
// the request.
struct RequestPacket : sim::Packet {
  Domain* domain = nullptr;  // of the origin; touched on the origin's node alone
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
  Bytes to_come = 0;  // bytes that are not written yet, at the side that writes
  std::uint64_t* flag = nullptr;
  AmoOperands operands{};  // or the value of the flag or the control event

  // Fields of the origin: packets that its core stores in place of this one. For a piece of an RDMA get: the engine
  // that asks for it, and the whole get.
  sim::PacketQueue data;
  BteEngine* engine = nullptr;
  RequestPacket* whole = nullptr;

  std::array<std::byte, kMostPacket> payload;
};

struct DataPacket : sim::Packet {
  RequestPacket* request = nullptr;
  BteEngine* engine = nullptr;         // the engine that sends it; null: none
  const std::byte* read_at = nullptr;  // of an answer to a get: source, read when the packet leaves
  Bytes before = 0;                    // bytes of the request in earlier packets
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
