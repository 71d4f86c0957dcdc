// What a link's near end keeps only while buffers at the far end are short.
//
// Credits that come back while packets wait are found by looking at the start of each window. Where that is in vain the
// far end is asked to tell: from then on it posts an event for each credit, until it is asked no longer to do so. Which
// way a credit is found does not change when it is.
#pragma once

#include <array>
#include <cstdint>

#include "gasmeter/base/units.hpp"
#include "gasmeter/sim/action.hpp"
#include "gasmeter/sim/credit_return.hpp"
#include "gasmeter/sim/packet.hpp"

namespace gasmeter::sim {

// When a link looks for free buffers again.
struct Retry : Action {
  using Action::Action;
};

// To the far end: tell of credits, or do not any more. One at a time is under way.
struct Wish : Action {
  using Action::Action;
  SimTime heeded;  // the end of the window in which it arrives
  bool tell = false;
};

struct Shortage : Retry, Wish {
  Shortage(Run retry, Run wish) : Retry(retry), Wish(wish) {}
  // No credit but those that have been read already comes without an event.
  [[nodiscard]] bool is_told(SimTime now) const { return tell && now >= heeded; }

  std::uint32_t waiting = 0;  // packets, all channels
  std::uint32_t link = 0;
  std::uint32_t vertex = 0;
  CreditsComing returned;
  std::array<PacketQueue, kMostChannels> blocked;
  std::array<std::uint32_t, kMostChannels> found{};  // free buffers that are for those, not for who comes meanwhile
  Fabric* fabric = nullptr;
  SimTime retry_at = kNever;  // when it looks for free buffers again
  std::uint64_t packets = 0;  // that had to wait, ever
};

// A credit that the near end of a link is told of.
struct ToldCredit : Action {
  ToldCredit() : Action(nullptr) {}
  Shortage* of = nullptr;
};

}  // namespace gasmeter::sim
