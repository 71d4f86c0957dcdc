// Numbers of events in a run. Conduits and networks share the names of counters (count_infos.hpp), so that runs
// compare.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "gasmeter/base/units.hpp"

namespace gasmeter::conduit {

enum class Count : std::uint8_t {
  // calls of core to a conduit
  messages,
  transfers,
  payload_bytes,
  stalls,
  // rings between neighbours, which bypass the conduit
  ring_messages,
  ring_bytes,
  ring_stalls,
  // of a conduit's protocol
  datagrams,
  two_sided_messages,
  retransmits,
  acknowledgements,
  credits,
  direct,
  ringed,
  duplicates,
  discarded,
  loans,
  revocations,
  caught,
  bounced,
  region_hits,
  region_misses,
  region_evictions,
  // of modelled devices
  packets,
  packet_bytes,
  commands,
  refusals,
  not_ready,
  held,
  drops,
  interrupts,
  // a kernel's accesses to shared objects (pgas)
  lookups,
  hits,
  misses,
  entries,
  pins,
  evictions,
  invalidations,
  remote_accesses,
  local_accesses,
  waits,
  seeded_lookups,
  seeded_hits,
  count_
};

[[nodiscard]] const char* name_of(Count which);

// Values of counters. A counter that is not counted is absent, not 0.
class Counts {
 public:
  void add(Count which, std::uint64_t times) { at(which) = at(which).value_or(0) + times; }
  [[nodiscard]] std::optional<std::uint64_t> of(Count which) const { return values_[static_cast<std::size_t>(which)]; }

 private:
  [[nodiscard]] std::optional<std::uint64_t>& at(Count which) { return values_[static_cast<std::size_t>(which)]; }
  std::array<std::optional<std::uint64_t>, static_cast<std::size_t>(Count::count_)> values_{};
};

// Counters of one conduit since it was made. Counting is one addition to the rank's own memory.
struct ConduitCounters {
  std::uint64_t messages = 0;
  std::uint64_t transfers = 0;
  std::uint64_t payload_bytes = 0;
  std::uint64_t stalls = 0;

  void message(Bytes payload) {
    ++messages;
    payload_bytes += payload;
  }
  void transfer(Bytes payload) {
    ++transfers;
    payload_bytes += payload;
  }
  void add_to(Counts& counts) const;
};

// Interface of a conduit that counts its own work. Other conduits are wrapped by a CountingConduit.
class CountsItself {
 public:
  // Add the counts of this rank since the conduit was made.
  virtual void add_to(Counts& counts) const = 0;

 protected:
  ~CountsItself() = default;
};

}  // namespace gasmeter::conduit
