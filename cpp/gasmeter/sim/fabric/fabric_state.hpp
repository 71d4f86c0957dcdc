// State that a fabric keeps of its links. Only sources of Fabric include this header.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>

#include "gasmeter/base/platform.hpp"
#include "gasmeter/sim/fabric/fabric.hpp"

namespace gasmeter::sim {

// A direction of a link, at the vertex where it begins: a cache line.
struct alignas(kCacheLine) Fabric::Output {
  SimTime free;                                     // when the last byte of all sent packets has left
  std::array<std::uint32_t, kMostChannels> room{};  // buffers at the far end, as far as is known here
  std::uint64_t bytes = 0;
  SimTime longest_wait;
  std::unique_ptr<Shortage> shortage;
  std::uint32_t packets = 0;
  CreditReturn::Count read = 0;     // credits taken
  std::uint32_t to = kNoLink;       // vertex at the other end, also where only the link back exists
  std::uint16_t far_port = 0;       // port at the other end
  std::uint8_t link_class = kNone;  // kNone: no link begins here
  bool is_short = false;            // packets wait for buffers

  static constexpr std::uint8_t kNone = 0xff;
};

GASMETER_INLINE const Fabric::LinkCost& Fabric::cost_of(const Output& output) const {
  return costs_[output.link_class];
}

GASMETER_INLINE std::uint32_t Fabric::far_end(const Output& output) const {
  return first_output_[output.to] + output.far_port;
}

GASMETER_INLINE CreditReturn Fabric::credits(Output& output) {
  Input& input = inputs_[far_end(output)];
  return {input.given, output.read, input.ring, input.places};
}

// Let a packet cross as soon as the link is free, and take a buffer at the far end now. `tail`: when the packet's last
// byte is here; null: in time.
GASMETER_INLINE Fabric::Crossing Fabric::cross(Output& output, const LinkCost& cost, std::uint32_t channel, Bytes bytes,
                                               SimTime now, const SimTime* tail) {
  // No branch is taken, since nobody could predict whether the link is free.
  const std::int64_t busy = (output.free - now).ps;
  const SimTime wait{busy & ~(busy >> 63)};
  const SimTime start = now + wait;
  // The last byte cannot leave before it is here.
  const SimTime passed = start + cost.on_wire(bytes);
  const SimTime end = tail != nullptr ? std::max(passed, *tail) : passed;
  if (GASMETER_UNLIKELY(wait > output.longest_wait)) output.longest_wait = wait;
  output.free = end;
  ++output.packets;
  output.bytes += bytes;
  output.room[channel] -= taken_;
  return {start, end};
}

}  // namespace gasmeter::sim
