// What cards exchange.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "gasmeter/base/units.hpp"
#include "gasmeter/networks/gm/event.hpp"
#include "gasmeter/sim/packet.hpp"

namespace gasmeter::networks::gm {

inline constexpr Bytes kLeastMtu = 64;
inline constexpr Bytes kMostMtu = 4096;  // GM's

enum class PacketKind : std::uint8_t {
  message,
  directed,
  get,              // asks the target's card for its memory
  get_data,         // what that answers
  acknowledgement,  // all of a send is there
  get_taken,        // likewise of a get's data
  no_receive,       // none was provided for a message: it is held by its sender
};

// Of a card's own: there is nothing of the host's in it.
[[nodiscard]] constexpr bool is_answer(PacketKind kind) {
  return kind == PacketKind::acknowledgement || kind == PacketKind::get_taken || kind == PacketKind::no_receive;
}

// Of what software asks for.
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

// What asks for a get has on the wire beside the header. Estimate: two addresses.
inline constexpr Bytes kGetRequest = 16;

class Connection;

struct GmPacket : sim::Packet {
  Connection* connection = nullptr;  // which sends it; touched on its own node alone
  Connection* target = nullptr;      // which takes it, likewise; of data that nobody has asked for known there alone
  Rank owner{};                      // of that connection
  Rank peer{};
  const std::byte* read_at = nullptr;  // at the side that sends the bytes
  std::byte* write_at = nullptr;       // at the side that receives them
  std::uint64_t id = 0;                // of the receive that it goes to
  std::uint32_t message = 0;           // of the connection that sends, in order; of a get's data, the one that asked
  std::uint32_t before = 0;            // bytes of the message in earlier packets
  std::uint32_t total = 0;             // of the message
  std::uint16_t size = 0;              // of the payload
  SizeClass size_class = 0;
  Priority priority{};
  bool last = false;
  std::array<std::byte, kMostMtu> payload;
};

}  // namespace gasmeter::networks::gm
