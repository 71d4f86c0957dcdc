// Packets that adapters exchange.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "gasmeter/base/units.hpp"
#include "gasmeter/sim/fabric/packet.hpp"

namespace gasmeter::networks::lapi {

inline constexpr Bytes kMostUserHeader = 800;  // hw.hps.largest-user-header of hardware.csv
inline constexpr Bytes kLeastMtu = 1024;       // one packet holds a user header
inline constexpr Bytes kMostMtu = 2048;
inline constexpr unsigned kLeastPackets = 4;
inline constexpr unsigned kMostPackets = 65535;

enum class PacketKind : std::uint8_t {
  // Packets from FIFO to FIFO, which software handles at both sides.
  amsend,
  put,
  get,  // asks for data
  get_data,
  put_done,         // all of a put is in memory
  acknowledgement,  // packets have been taken
  // Packets from memory to memory, which the adapters handle alone.
  rdma_put,
  rdma_put_done,
  rdma_get,  // asks for data
  rdma_data,
};

// Tell whether a packet takes a slot of its task's send FIFO until the adapter has read it. Such a packet counts in the
// window of the pair until its target has taken it. Packets without data that only answer need neither.
[[nodiscard]] constexpr bool takes_slot(PacketKind kind) {
  return kind == PacketKind::amsend || kind == PacketKind::put || kind == PacketKind::get ||
         kind == PacketKind::get_data;
}

class RdmaTransfer;

struct LapiPacket : sim::Packet {
  Rank source{};
  Rank target{};
  std::uint64_t counter = 0;  // counter of the origin, which rises with the completion
  std::uint64_t target_counter = 0;
  std::uint64_t before = 0;  // bytes of the message in earlier packets
  std::uint64_t total = 0;   // of its data; of a get: bytes that it asks for
  const std::byte* read_at = nullptr;
  std::byte* write_at = nullptr;
  RdmaTransfer* transfer = nullptr;  // sender; touched on its own node alone
  std::uint32_t packets = 0;         // of an acknowledgement
  std::uint16_t size = 0;            // of the payload
  std::uint16_t user_header = 0;     // part of the payload
  bool last = false;
  std::array<std::byte, kMostMtu> payload;
};

}  // namespace gasmeter::networks::lapi
