// A message on its way through VELO: header, arguments and payload, cut into packets.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "gasmeter/conduit/am.hpp"
#include "gasmeter/networks/extoll/packet.hpp"

namespace gasmeter::networks::extoll {

// Tag of a packet: the section of the message that the packet begins with, or `credits`. A packet with credits returns
// the number of the receiver's requests that have been handled.
enum class Section : std::uint8_t { header, arguments, data, credits };

struct WireHeader {
  std::uint8_t category : 2 = 0;
  std::uint8_t is_reply : 1 = 0;
  std::uint8_t arguments : 5 = 0;
  HandlerIndex handler{};
  std::uint16_t unused = 0;
  std::uint32_t size = 0;  // of the payload

  [[nodiscard]] conduit::Category kind() const { return static_cast<conduit::Category>(category); }
  [[nodiscard]] Bytes argument_bytes() const { return arguments * sizeof(std::int32_t); }
  // Bytes behind the arguments: the payload of a Medium, or the destination of a Long without payload, which no put
  // tells.
  [[nodiscard]] Bytes data_bytes() const {
    if (kind() == conduit::Category::medium) return size;
    return kind() == conduit::Category::long_message && size == 0 ? sizeof(std::uint64_t) : 0;
  }
};
static_assert(sizeof(WireHeader) == 8);

[[nodiscard]] inline unsigned packets_of(const WireHeader& header, Bytes per_packet, bool packed) {
  const auto packets = [per_packet](Bytes bytes) { return (bytes + per_packet - 1) / per_packet; };
  const Bytes first = sizeof header;
  const Bytes count = packed ? packets(first + header.argument_bytes() + header.data_bytes())
                             : packets(first) + packets(header.argument_bytes()) + packets(header.data_bytes());
  return static_cast<unsigned>(count);
}

// Gathers one packet after the other from where the sections lie, as stores to the card do.
class PacketCutter {
 public:
  struct Cut {
    std::span<const std::byte> bytes;
    Section section{};
  };

  PacketCutter(const WireHeader& header, const std::int32_t* arguments, const std::byte* data, Bytes per_packet,
               bool packed)
      : header_(header),
        from_{nullptr, reinterpret_cast<const std::byte*>(arguments), data},
        left_{sizeof header_, header.argument_bytes(), header.data_bytes()},
        per_packet_(per_packet),
        packed_(packed) {}

  [[nodiscard]] bool done() const { return at_ == 3; }
  [[nodiscard]] unsigned packets_left() const {
    Bytes count = 0;
    Bytes together = 0;
    for (const Bytes left : left_) {
      count += (left + per_packet_ - 1) / per_packet_;
      together += left;
    }
    return static_cast<unsigned>(packed_ ? (together + per_packet_ - 1) / per_packet_ : count);
  }

  // The sections have moved. Packets that have been cut stay as they are.
  void move_to(const std::int32_t* arguments, const std::byte* data) {
    from_[1] = reinterpret_cast<const std::byte*>(arguments) + (header_.argument_bytes() - left_[1]);
    from_[2] = data + (header_.data_bytes() - left_[2]);
  }

  // The packet's bytes stand in `packet` until the next call.
  Cut next(std::array<std::byte, kVeloPayload>& packet) {
    const auto section = static_cast<Section>(at_);
    Bytes filled = 0;
    do {
      const Bytes taken = std::min(left_[at_], per_packet_ - filled);
      if (at_ == 0) {
        std::memcpy(packet.data() + filled, reinterpret_cast<const std::byte*>(&header_) + sizeof header_ - left_[0],
                    taken);
      } else if (taken != 0) {
        std::memcpy(packet.data() + filled, from_[at_], taken);
        from_[at_] += taken;
      }
      filled += taken;
      left_[at_] -= taken;
      while (at_ != 3 && left_[at_] == 0) ++at_;
    } while (packed_ && at_ != 3 && filled < per_packet_);
    return {std::span(packet).first(filled), section};
  }

 private:
  WireHeader header_;
  std::array<const std::byte*, 3> from_;
  std::array<Bytes, 3> left_;
  std::size_t at_ = 0;  // section
  Bytes per_packet_;
  bool packed_;
};

}  // namespace gasmeter::networks::extoll
