// Packets that InfiniBand adapters exchange, and the fields that software reads.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "gasmeter/base/units.hpp"
#include "gasmeter/sim/fabric/packet.hpp"

namespace gasmeter::networks::ibv {

inline constexpr Bytes kLeastMtu = 256;  // smallest MTU of the InfiniBand architecture
inline constexpr Bytes kMostMtu = 4096;

// Headers beyond those of every packet, after the InfiniBand architecture.
inline constexpr Bytes kRdmaHeader = 16;        // of a write's first packet and of a read's request
inline constexpr Bytes kAtomicHeader = 28;      // of an atomic's request: address, key and two operands
inline constexpr Bytes kImmediateData = 4;      // of a send's last packet
inline constexpr Bytes kAcknowledgeHeader = 4;  // of all answers

enum class PacketKind : std::uint8_t {
  send,
  write,
  read_request,
  fetch_add,
  compare_swap,
  read_response,
  atomic_response,
  acknowledgement,
  not_ready,  // no receive was posted for a send
};

class QueuePair;

struct IbPacket : sim::Packet {
  QueuePair* pair = nullptr;  // sender; touched on its own node alone
  Rank owner{};               // of that queue pair
  Rank peer{};
  std::uint64_t message = 0;           // number at the requesting queue pair, in the order of its work requests
  const std::byte* read_at = nullptr;  // at the sending side; of a request for data: at the receiving side
  std::byte* write_at = nullptr;       // at the receiving side
  Bytes before = 0;                    // bytes of the message in earlier packets
  Bytes total = 0;                     // of the message
  std::uint32_t immediate = 0;
  std::uint64_t operand = 0;  // of an atomic
  std::uint64_t compare = 0;
  std::uint16_t size = 0;   // of the payload
  std::uint8_t number = 0;  // of the queue pair
  bool last = false;
  std::array<std::byte, kMostMtu> payload;
};

}  // namespace gasmeter::networks::ibv
