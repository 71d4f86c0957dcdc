// What the conduits over datagrams share: what their ranks agree on, and what they count.
#pragma once

#include <cstdint>

#include "gasmeter/base/keyed_hash.hpp"
#include "gasmeter/base/units.hpp"
#include "gasmeter/conduit/counts.hpp"
#include "gasmeter/networks/udp/wire.hpp"

namespace gasmeter::networks::udp {

// What all ranks of a run agree on.
struct UdpSettings {
  HashKey key;                // the run's secret
  std::uint32_t session = 0;  // differs from that of every earlier run with this key
  Authentication covers = Authentication::header;
  std::uint64_t first_sequence = 0;      // of every pair; a test starts near the end of 64 bits
  SimTime patience{60'000'000'000'000};  // a peer that is silent for longer ends the job
};

// Throws UsageError for more ranks than the header can name, or datagrams too small for any message.
void check_run(std::uint32_t ranks, Bytes largest);

inline constexpr unsigned kMostLooks = 64;  // at the network per poll: strangers may send as fast as it reads

struct UdpCounters {
  std::uint64_t sent = 0;  // datagrams, retransmissions included
  std::uint64_t received = 0;
  std::uint64_t retransmitted = 0;
  std::uint64_t acknowledgements = 0;  // sent, of the kind that carries nothing else
  std::uint64_t duplicates = 0;        // arrived again: retransmitted needlessly, or replayed
  std::uint64_t beyond = 0;            // too far ahead, or more requests than are kept
  std::uint64_t foreign = 0;           // hash does not fit
  std::uint64_t stale = 0;             // of another run
  std::uint64_t malformed = 0;
  std::uint64_t misdirected = 0;  // of this run, but not for this rank
  std::uint64_t most_kept = 0;    // bytes of requests that waited for their handlers at once

  conduit::ConduitCounters handed;  // what core handed the conduit

  // Counts what a datagram was refused for; true if it was not.
  [[nodiscard]] bool admit(Verdict verdict);
  // But for datagrams: not every conduit counts acknowledgements among those sent.
  void add_to(conduit::Counts& counts) const;
};

}  // namespace gasmeter::networks::udp
