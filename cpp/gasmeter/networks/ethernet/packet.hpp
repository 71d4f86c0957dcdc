// IP packets. Each is a datagram, or a fragment of a datagram that is larger than the MTU.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "gasmeter/base/units.hpp"
#include "gasmeter/sim/fabric/packet.hpp"

namespace gasmeter::networks::ethernet {

inline constexpr Bytes kIpHeader = 20;
inline constexpr Bytes kUdpHeader = 8;     // in the first fragment alone
inline constexpr Bytes kFragmentUnit = 8;  // unit of a fragment's offset
inline constexpr Bytes kMostPacket = 65535;

class EthernetNetwork;

struct IpPacket : sim::Packet {
  EthernetNetwork* network = nullptr;
  std::uint32_t source = 0;  // sending socket
  std::uint32_t target = 0;
  std::uint32_t datagram = 0;  // datagram's number at the source
  std::uint32_t packets = 1;   // packets of the datagram
  std::uint32_t offset = 0;    // offset of the payload in the datagram
  std::uint32_t total = 0;     // payload of the datagram
  std::vector<std::byte> payload;
};

// Sizes of the packets that a datagram is cut into.
struct Fragmentation {
  std::uint32_t packets = 1;
  Bytes first = 0;  // payload in the first packet
  Bytes each = 0;   // payload in every later packet but the last

  // `mtu` is the size of a packet, its IP header included.
  static constexpr Fragmentation of(Bytes payload, Bytes mtu) {
    if (payload + kUdpHeader + kIpHeader <= mtu) return {1, payload, 0};
    const Bytes each = (mtu - kIpHeader) / kFragmentUnit * kFragmentUnit;
    return {static_cast<std::uint32_t>((payload + kUdpHeader + each - 1) / each), each - kUdpHeader, each};
  }
};
static_assert(Fragmentation::of(1472, 1500).packets == 1);
static_assert(Fragmentation::of(1473, 1500).packets == 2);
static_assert(Fragmentation::of(65507, 1500).packets == 45);  // 65515 / 1480

}  // namespace gasmeter::networks::ethernet
