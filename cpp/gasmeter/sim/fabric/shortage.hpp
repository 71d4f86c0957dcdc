// State that a link's near end keeps only while buffers at the far end are short.
//
// Credits that have come back are read when a packet needs one. While packets wait, either the next credit is known, or
// the far end tells of it when it gives it. The link looks again at the instant at which the credit comes.
#pragma once

#include <array>
#include <cstdint>

#include "gasmeter/base/units.hpp"
#include "gasmeter/sim/action.hpp"
#include "gasmeter/sim/fabric/credit_return.hpp"
#include "gasmeter/sim/fabric/packet.hpp"

namespace gasmeter::sim {

// The event in which the link looks for free buffers again.
struct Shortage : Action {
  using Action::Action;

  std::uint32_t waiting = 0;  // packets in all channels
  std::uint32_t link = 0;
  std::uint32_t vertex = 0;
  std::array<PacketQueue, kMostChannels> blocked;
  std::array<std::uint32_t, kMostChannels> found{};  // free buffers that are reserved for the blocked packets
  Fabric* fabric = nullptr;
  SimTime retry_at = kNever;  // when the link looks for free buffers again
  std::uint64_t packets = 0;  // packets that have had to wait so far
};

}  // namespace gasmeter::sim
