// How often things happened in a run: words that conduits and networks share, so that runs can be compared.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "gasmeter/base/units.hpp"

namespace gasmeter::conduit {

enum class Count : std::uint8_t {
  // of a conduit: what core handed it
  messages,       // active messages, requests and replies
  transfers,      // puts and gets, and atomics that it does itself
  payload_bytes,  // of both, without headers
  stalls,         // attempts for which it had no room: no slot, no credit, a full window or queue
  // of the rings between neighbours, for which there is no conduit
  ring_messages,  // active messages that came through them, requests and replies
  ring_bytes,     // of their records, headers and padding among them
  ring_stalls,    // attempts for which a ring had no room
  // of a conduit's protocol
  datagrams,           // handed to sockets, those sent again among them
  two_sided_messages,  // handed to an MPI or its model
  retransmits,         // datagrams or sends that went again
  acknowledgements,    // datagrams that acknowledge and carry nothing else
  credits,             // messages that return credits and carry nothing else
  direct,              // puts, gets and atomics through memory that an MPI shares
  duplicates,          // datagrams that had come before
  discarded,           // datagrams that were damaged, a stranger's, of another run, or too early
  // of modelled devices
  packets,       // that ranks handed to them, or that a card has received (Ethernet)
  packet_bytes,  // of them
  commands,      // puts and gets of a card, work requests
  refusals,      // packets and commands that a card had no place for
  not_ready,     // sends that found no receive
  held,          // packets that waited in a card for a full mailbox, notifications for a full queue
  drops,         // packets or datagrams that were lost to a full mailbox, ring or buffer
  interrupts,
  count_
};

[[nodiscard]] const char* name_of(Count which);

// What is not counted is absent, and not 0.
class Counts {
 public:
  void add(Count which, std::uint64_t times) { at(which) = at(which).value_or(0) + times; }
  [[nodiscard]] std::optional<std::uint64_t> of(Count which) const { return values_[static_cast<std::size_t>(which)]; }

 private:
  [[nodiscard]] std::optional<std::uint64_t>& at(Count which) { return values_[static_cast<std::size_t>(which)]; }
  std::array<std::optional<std::uint64_t>, static_cast<std::size_t>(Count::count_)> values_{};
};

// Of one conduit, since it was made. Counting is one addition to memory of the rank's own.
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

// A conduit that counts what it does is this, too. Others stand behind a CountingConduit.
class CountsItself {
 public:
  // Adds what has happened since it was made, on this rank.
  virtual void add_to(Counts& counts) const = 0;

 protected:
  ~CountsItself() = default;
};

}  // namespace gasmeter::conduit
