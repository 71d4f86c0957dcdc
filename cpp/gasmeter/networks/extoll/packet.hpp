// What EXTOLL cards exchange.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "gasmeter/base/units.hpp"
#include "gasmeter/sim/packet.hpp"

namespace gasmeter::networks::extoll {

inline constexpr Bytes kVeloPayload = 56;     // of a slot; its other 8 bytes are the status
inline constexpr Bytes kVeloStatus = 8;       //
inline constexpr Bytes kMaxRmaPayload = 512;  // that a machine may ask for

enum class PacketKind : std::uint8_t {
  velo,
  drop_notice,  // a mailbox was full
  put,
  get_request,
  response,  // of a get
};

// The status word of a mailbox slot.
struct VeloStatus {
  Rank source{};              // of a drop notice: whose mailbox was full
  std::uint16_t process = 0;  // which rank of the destination node
  std::uint8_t tag = 0;       // the software's own
  std::uint8_t size = 0;      // of the payload
};
static_assert(sizeof(VeloStatus) == kVeloStatus);

// A mailbox slot and the packet that carries it.
struct VeloPacket : sim::Packet {
  alignas(std::max_align_t) std::array<std::byte, kVeloPayload> payload;
  VeloStatus status;
};
static_assert(sizeof(VeloPacket) == 128);

// Which units leave a notification at their side.
enum class Notify : std::uint8_t { none = 0, requester = 1, completer = 2, responder = 4, all = 7 };
[[nodiscard]] constexpr Notify operator|(Notify a, Notify b) {
  return static_cast<Notify>(static_cast<unsigned>(a) | static_cast<unsigned>(b));
}
[[nodiscard]] constexpr bool has(Notify set, Notify one) {
  return (static_cast<unsigned>(set) & static_cast<unsigned>(one)) != 0;
}

struct RmaPacket : sim::Packet {
  Rank owner{};                        // for whom the unit that sends it works
  Rank peer{};                         // to whom it goes
  const std::byte* read_at = nullptr;  // at the sending side; of a get request: at the other
  std::byte* write_at = nullptr;       // at the receiving side; of a get request: at the one that asks
  Bytes before = 0;                    // bytes of the transfer in earlier packets
  Bytes total = 0;                     // of the transfer
  std::uint16_t size = 0;              // of the payload
  Notify notify = Notify::none;
  bool last = false;
  std::array<std::byte, kMaxRmaPayload> payload;
};

}  // namespace gasmeter::networks::extoll
