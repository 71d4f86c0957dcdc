// What adapters exchange.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "gasmeter/base/units.hpp"
#include "gasmeter/sim/packet.hpp"

namespace gasmeter::networks::lapi {

inline constexpr Bytes kMostUserHeader = 800;  // protocol_constants: lapi-conduit
inline constexpr Bytes kLeastMtu = 1024;       // so that a user header is in one packet
inline constexpr Bytes kMostMtu = 2048;
inline constexpr unsigned kLeastPackets = 4;
inline constexpr unsigned kMostPackets = 65535;

enum class PacketKind : std::uint8_t {
  // From FIFO to FIFO: software's at both sides.
  amsend,
  put,
  get,  // asks for data
  get_data,
  put_done,         // all of a put is in memory
  acknowledgement,  // packets have been taken
  // From memory to memory: the adapters' alone.
  rdma_put,
  rdma_put_done,
  rdma_get,  // asks for data
  rdma_data,
};

// It lies in its task's send FIFO until the adapter has read it, and counts in the window of the pair until its target
// has taken it. What only answers needs neither.
[[nodiscard]] constexpr bool takes_slot(PacketKind kind) {
  return kind == PacketKind::amsend || kind == PacketKind::put || kind == PacketKind::get ||
         kind == PacketKind::get_data;
}

class RdmaTransfer;

struct LapiPacket : sim::Packet {
  Rank source{};
  Rank target{};
  std::uint64_t counter = 0;  // of the origin's, which rises with the completion
  std::uint64_t target_counter = 0;
  std::uint64_t before = 0;  // bytes of the message in earlier packets
  std::uint64_t total = 0;   // of its data; of a get: that it asks for
  const std::byte* read_at = nullptr;
  std::byte* write_at = nullptr;
  RdmaTransfer* transfer = nullptr;  // which sends it, touched on its own node alone
  std::uint32_t packets = 0;         // an acknowledgement's
  std::uint16_t size = 0;            // of the payload
  std::uint16_t user_header = 0;     // of that
  bool last = false;
  std::array<std::byte, kMostMtu> payload;
};

}  // namespace gasmeter::networks::lapi
