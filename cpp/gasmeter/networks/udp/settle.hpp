// The end of a block in virtual time: no process goes on serving a rank that has ended it, so that every rank stays
// until its peers can do without it.
#pragma once

#include <algorithm>

#include "gasmeter/base/units.hpp"
#include "gasmeter/networks/udp/amudp_message.hpp"
#include "gasmeter/networks/udp/send_window.hpp"

namespace gasmeter::networks::udp {

// How long a peer may be silent that still lacks something: a retransmission and one that was lost.
inline constexpr SimTime kWindowSilence = RoundTrip::kMostTimeout * 2;
inline constexpr SimTime kClassicSilence = amudp::kMostTimeout * 2;

// Returns when all that this rank has sent is acknowledged and nobody has asked anything of it for `silence`.
template <class Conduit, class Host>
void settle(Conduit& conduit, Host host, SimTime silence) {
  std::uint64_t received = conduit.counters().received;
  SimTime heard = host.now();
  for (;;) {
    conduit.serve();
    if (conduit.counters().received != received) {
      received = conduit.counters().received;
      heard = host.now();
    }
    const bool is_quiet = conduit.is_quiet();
    if (is_quiet && host.now() >= heard + silence) return;
    host.describe_wait("peers that may lack a datagram of the block it has ended");
    host.idle(is_quiet ? std::min(conduit.next_deadline(), heard + silence) : conduit.next_deadline());
  }
}

}  // namespace gasmeter::networks::udp
