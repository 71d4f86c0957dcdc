// Ends a job whose peer was silent for longer than the patience of a conduit over datagrams.
#pragma once

#include <string>

#include "gasmeter/base/error.hpp"
#include "gasmeter/base/units.hpp"

namespace gasmeter::networks::udp {

// Throw BrokenJob on a real host, since the peer has died or is cut off. In virtual time no rank dies, so throw
// UsageError: the machine is too slow for the patience.
template <class Host>
[[noreturn]] void fail_silent_peer(const std::string& conduit, Rank peer, std::uint32_t self, SimTime patience) {
  const std::string text = conduit + ": rank " + std::to_string(index(peer)) + " has not answered rank " +
                           std::to_string(self) + " for " + std::to_string(static_cast<long>(patience.seconds())) +
                           " s";
  if constexpr (Host::kModelled) {
    throw UsageError(text +
                     " of virtual time: the machine is too slow for this conduit; allowed: smaller times, "
                     "larger rates and buffers in --machine");
  }
  throw BrokenJob(text);
}

}  // namespace gasmeter::networks::udp
