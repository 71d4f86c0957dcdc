// End of a block in virtual time. No process serves a rank that has ended its block, so every rank stays until its
// peers need nothing more from it.
#pragma once

#include <algorithm>

#include "gasmeter/base/units.hpp"
#include "gasmeter/networks/udp/amudp_message.hpp"
#include "gasmeter/networks/udp/send_window.hpp"

namespace gasmeter::networks::udp {

// Longest silence of a peer that still lacks a datagram: two retransmission timeouts, since one copy may be lost.
inline constexpr SimTime kWindowSilence = RoundTrip::kMostTimeout * 2;
inline constexpr SimTime kClassicSilence = amudp::kMostTimeout * 2;

// Return when all that this rank sent is acknowledged and no peer has sent a datagram for `silence`.
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
