// Settings that ranks of a conduit over datagrams agree on, and its counters.
#pragma once

#include <cstdint>

#include "gasmeter/base/keyed_hash.hpp"
#include "gasmeter/base/units.hpp"
#include "gasmeter/conduit/counts.hpp"
#include "gasmeter/networks/udp/wire.hpp"

namespace gasmeter::networks::udp {

// Settings that all ranks of a run agree on.
struct UdpSettings {
  HashKey key;                // the run's secret
  std::uint32_t session = 0;  // differs from that of every earlier run with this key
  Authentication covers = Authentication::header;
  std::uint64_t first_sequence = 0;      // start of every pair's numbers; tests start near the end of 64 bits
  SimTime patience{60'000'000'000'000};  // a peer that is silent for longer ends the job
};

// Throws UsageError for more ranks than the header can name, or datagrams too small for any message.
void check_run(std::uint32_t ranks, Bytes largest);

inline constexpr unsigned kMostLooks = 64;  // looks at the network per poll; strangers may send as fast as it reads

struct UdpCounters {
  std::uint64_t sent = 0;  // datagrams, retransmissions included
  std::uint64_t received = 0;
  std::uint64_t retransmitted = 0;
  std::uint64_t acknowledgements = 0;  // acknowledgements that carry nothing else
  std::uint64_t duplicates = 0;        // arrived again: retransmitted needlessly, or replayed
  std::uint64_t beyond = 0;            // too far ahead, or more requests than are kept
  std::uint64_t foreign = 0;           // hash does not fit
  std::uint64_t stale = 0;             // datagrams of another run
  std::uint64_t malformed = 0;
  std::uint64_t misdirected = 0;  // datagrams of this run for another rank
  std::uint64_t most_kept = 0;    // most bytes of requests that waited for their handlers at once

  conduit::ConduitCounters handed;  // operations that core handed to the conduit

  // Count why a datagram was refused. Returns true if it was not.
  [[nodiscard]] bool admit(Verdict verdict);
  // Add all counters except datagrams: some conduits do not count acknowledgements among those sent.
  void add_to(conduit::Counts& counts) const;
};

}  // namespace gasmeter::networks::udp
