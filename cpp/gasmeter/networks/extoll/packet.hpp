// Packets that EXTOLL cards exchange.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "gasmeter/base/units.hpp"
#include "gasmeter/sim/fabric/packet.hpp"

namespace gasmeter::networks::extoll {

inline constexpr Bytes kVeloPayload = 56;  // of a slot; its other 8 bytes are the status
inline constexpr Bytes kVeloStatus = 8;
inline constexpr Bytes kMaxRmaPayload = 512;  // the largest that a machine may ask for

enum class PacketKind : std::uint8_t {
  velo,
  drop_notice,  // a mailbox was full
  put,
  get_request,
  response,  // of a get
};

// Status word of a mailbox slot.
struct VeloStatus {
  Rank source{};              // sender; in a drop notice: owner of the full mailbox
  std::uint16_t process = 0;  // number of the rank at the destination node
  std::uint8_t tag = 0;       // free for software
  std::uint8_t size = 0;      // of the payload
};
static_assert(sizeof(VeloStatus) == kVeloStatus);

// A mailbox slot and the packet that carries it.
struct VeloPacket : sim::Packet {
  alignas(std::max_align_t) std::array<std::byte, kVeloPayload> payload;
  VeloStatus status;
};
static_assert(sizeof(VeloPacket) == 128);

// Units that write a notification at their side.
enum class Notify : std::uint8_t { none = 0, requester = 1, completer = 2, responder = 4, all = 7 };
[[nodiscard]] constexpr Notify operator|(Notify a, Notify b) {
  return static_cast<Notify>(static_cast<unsigned>(a) | static_cast<unsigned>(b));
}
[[nodiscard]] constexpr bool has(Notify set, Notify unit) {
  return (static_cast<unsigned>(set) & static_cast<unsigned>(unit)) != 0;
}

struct RmaPacket : sim::Packet {
  Rank owner{};                        // rank that the sending unit works for
  Rank peer{};                         // rank that receives the packet
  const std::byte* read_at = nullptr;  // at the sending side; of a get request: at the receiving side
  std::byte* write_at = nullptr;       // at the receiving side; of a get request: at the requesting side
  Bytes before = 0;                    // bytes of the transfer in earlier packets
  Bytes total = 0;                     // bytes of the transfer
  std::uint16_t size = 0;              // of the payload
  Notify notify = Notify::none;
  bool last = false;
  std::array<std::byte, kMaxRmaPayload> payload;
};

}  // namespace gasmeter::networks::extoll
