// Layout of the memory that every rank sets aside for each of its ScaMPI senders. The parts are a channel (a ring of
// envelopes), eager buffers, transporter buffers, and a word that gives the resources of the other direction back.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "gasmeter/base/units.hpp"
#include "gasmeter/networks/sci/packet.hpp"
#include "gasmeter/services/message_device.hpp"

namespace gasmeter::networks::sci {

struct ScaMpiSizes {
  Bytes inlined = 512;  // largest payload of a message in the channel
  Bytes eager = 8192;   // payload of an eager buffer
  Bytes channel = 4096;
  std::uint32_t eager_buffers = 4;
  Bytes transporter = 4096;  // piece of a longer message that a transporter buffer takes
  std::uint32_t transporters = 4;
};

// An entry of a channel that begins a message, or announces a piece of one. The entry is stored after all its bytes, as
// one packet.
struct Envelope {
  enum class Kind : std::uint32_t { none, message, piece };

  std::array<std::byte, 56> content{};  // the head, and a payload that fits behind it
  Kind kind = Kind::none;
  std::uint32_t number = 0;  // count of its entry from the start: leftovers of earlier rounds have other numbers
};
static_assert(sizeof(Envelope) == kLine);

// Payload that travels within the envelope.
inline constexpr Bytes kInEnvelope = sizeof(Envelope::content) - services::MessageHead::size_of({});

// A sender's resources that have been given back, as counts from the start. The rank that empties them stores these
// counts.
struct Freed {
  std::uint32_t entries = 0;
  std::uint32_t eager = 0;
  std::uint32_t transporters = 0;
  std::uint32_t unused = 0;  // pads to the card's smallest packet
  bool operator==(const Freed&) const = default;
};
static_assert(sizeof(Freed) == kLeastPacket);

class ScaMpiLayout {
 public:
  explicit ScaMpiLayout(const ScaMpiSizes& sizes) : sizes_(sizes) {}

  [[nodiscard]] const ScaMpiSizes& sizes() const { return sizes_; }
  [[nodiscard]] std::uint32_t entries() const { return static_cast<std::uint32_t>(sizes_.channel / kLine); }
  [[nodiscard]] static std::uint32_t lines(Bytes bytes) {
    return static_cast<std::uint32_t>((bytes + kLine - 1) / kLine);
  }
  // Return how many entries of the channel a message of `payload` bytes takes.
  [[nodiscard]] std::uint32_t entries_for(Bytes payload) const {
    return payload > kInEnvelope && payload <= sizes_.inlined ? 1 + lines(payload) : 1;
  }

  // ---- offsets: of a sender's memory, and within it of entries and buffers by their counts
  [[nodiscard]] Bytes at(Rank sender) const { return index(sender) * bytes_of_sender(); }
  [[nodiscard]] static Bytes freed() { return 0; }
  [[nodiscard]] Bytes entry(std::uint32_t count) const { return kChannel + count % entries() * kLine; }
  // Bytes from an entry to the end of the ring.
  [[nodiscard]] Bytes to_end(std::uint32_t count) const { return (entries() - count % entries()) * kLine; }
  [[nodiscard]] Bytes eager(std::uint32_t count) const {
    return eager_begin() + count % sizes_.eager_buffers * blocks(sizes_.eager);
  }
  [[nodiscard]] Bytes transporter(std::uint32_t count) const {
    return transporter_begin() + count % sizes_.transporters * blocks(sizes_.transporter);
  }
  [[nodiscard]] Bytes bytes_of_sender() const {
    return transporter_begin() + sizes_.transporters * blocks(sizes_.transporter);
  }
  // The longest part that has to be contiguous: each part is a segment of its own.
  [[nodiscard]] Bytes longest_part() const {
    return std::max({kChannel + blocks(sizes_.channel), blocks(sizes_.eager), blocks(sizes_.transporter)});
  }

  // ---- the inverse: the part that an offset lies in. The channel and the word before it are one part. Each buffer is
  // a part.
  struct Part {
    std::uint32_t number = 0;
    Bytes begin = 0;
    Bytes bytes = 0;
  };
  [[nodiscard]] std::uint32_t parts() const { return 1 + sizes_.eager_buffers + sizes_.transporters; }
  [[nodiscard]] Part part_at(Bytes offset) const {
    if (offset < eager_begin()) return {0, 0, eager_begin()};
    if (offset < transporter_begin()) {
      const auto which = static_cast<std::uint32_t>((offset - eager_begin()) / blocks(sizes_.eager));
      return {1 + which, eager(which), blocks(sizes_.eager)};
    }
    const auto which = static_cast<std::uint32_t>((offset - transporter_begin()) / blocks(sizes_.transporter));
    return {1 + sizes_.eager_buffers + which, transporter(which), blocks(sizes_.transporter)};
  }

 private:
  // Parts are whole packets, so that the card gathers stores into each of them alike.
  static constexpr Bytes kChannel = kLargestPacket;
  [[nodiscard]] static constexpr Bytes blocks(Bytes bytes) {
    return (bytes + kLargestPacket - 1) / kLargestPacket * kLargestPacket;
  }
  [[nodiscard]] Bytes eager_begin() const { return kChannel + blocks(sizes_.channel); }
  [[nodiscard]] Bytes transporter_begin() const { return eager_begin() + sizes_.eager_buffers * blocks(sizes_.eager); }

  ScaMpiSizes sizes_;
};

}  // namespace gasmeter::networks::sci
