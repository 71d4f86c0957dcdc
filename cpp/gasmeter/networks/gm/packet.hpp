// Packets that cards exchange.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "gasmeter/base/units.hpp"
#include "gasmeter/networks/gm/event.hpp"
#include "gasmeter/sim/fabric/packet.hpp"

namespace gasmeter::networks::gm {

inline constexpr Bytes kLeastMtu = 64;
inline constexpr Bytes kMostMtu = 4096;  // GM's

enum class PacketKind : std::uint8_t {
  message,
  directed,
  get,              // asks the target's card for its memory
  get_data,         // data that answer a get
  acknowledgement,  // all bytes of a send have arrived
  get_taken,        // all data of a get have arrived
  no_receive,       // no receive was provided for the message: its sender holds it
};

// Tell whether a card makes such packets by itself, without data of the host.
[[nodiscard]] constexpr bool is_answer(PacketKind kind) {
  return kind == PacketKind::acknowledgement || kind == PacketKind::get_taken || kind == PacketKind::no_receive;
}

// Name of a request of software.
[[nodiscard]] constexpr const char* name_of(PacketKind kind) {
  switch (kind) {
    case PacketKind::message:
      return "message";
    case PacketKind::directed:
      return "directed send";
    default:
      return "get";
  }
}

// Bytes of a get's request on the wire, beside the header. Estimate: two addresses.
inline constexpr Bytes kGetRequest = 16;

class Connection;

struct GmPacket : sim::Packet {
  Connection* connection = nullptr;  // the sender; touched on its own node alone
  // Receiver of the packet, touched on its own node alone. Known when an answer or a get's data leaves; other packets
  // find it on arrival.
  Connection* target = nullptr;
  Rank owner{};  // of the sending connection
  Rank peer{};
  const std::byte* read_at = nullptr;  // at the side that sends the bytes
  std::byte* write_at = nullptr;       // at the side that receives the bytes
  std::uint64_t id = 0;                // of its receive
  std::uint32_t message = 0;           // number at the sending connection; for a get's data: number of the get
  std::uint32_t before = 0;            // bytes of the message in earlier packets
  std::uint32_t total = 0;             // of the message
  std::uint16_t size = 0;              // of the payload
  SizeClass size_class = 0;
  Priority priority{};
  bool last = false;
  std::array<std::byte, kMostMtu> payload;
};

}  // namespace gasmeter::networks::gm
