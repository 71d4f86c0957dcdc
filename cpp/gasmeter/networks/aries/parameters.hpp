// What an installation of Aries cards is described by, apart from its host and its topology.
#pragma once

#include <cstdint>

#include "gasmeter/base/units.hpp"
#include "gasmeter/conduit/host_prices.hpp"
#include "gasmeter/conduit/instruction_counts.hpp"
#include "gasmeter/conduit/machine_values.hpp"
#include "gasmeter/sim/fabric.hpp"
#include "gasmeter/sim/topology.hpp"

namespace gasmeter::networks::aries {

// aries of tests/am_instructions.py: request 779, reply 549, handler 311, answered 302; less core's. Programs without a
// conduit spend none.
inline constexpr conduit::InstructionCounts kInstructions{.inject = 632, .deliver = 201};

// The defaults are round numbers for times that can be computed by hand; they stand for no machine.
struct AriesParameters {
  sim::LinkParameters link{1'000'000, {100'000}, 16};      // between routers, by electrical cables and backplanes
  sim::LinkParameters optical{1'000'000, {100'000}, 16};   // between groups of routers
  sim::LinkParameters terminal{1'000'000, {100'000}, 16};  // between a card and its router
  Bytes header = 24;                                       // that each packet adds on the wire
  Bytes packet = 64;                                       // payload of one
  std::int64_t nic_per_byte_fs = 1'000'000;                // between card and host memory, each way
  std::int64_t pio_per_byte_fs = 1'000'000;                // a core stores into a window

  SimTime request{10'000};       // the card is busy with a put, get or atomic that its node asks for
  SimTime pass{100'000};         // a packet through the cards at both of its ends, but for the links
  SimTime host_read{500'000};    // from asking host memory to its first byte in the card
  SimTime host_write{200'000};   // from the card to host memory
  SimTime amo{20'000};           // an atomic operation on a word that the card has at hand
  unsigned amo_words = 4;        // that it has at hand
  unsigned fma_windows = 123;    // ranks of a node that may have one each
  SimTime bte_start{1'000'000};  // from a descriptor's turn to the first byte of what it names
  unsigned bte_engines = 2;
  SimTime cq_event{100'000};   // taking an event from a completion queue
  SimTime cq_empty{50'000};    // looking into one that has none
  SimTime sharing{1'000'000};  // a post by a window that is not the rank's own

  Bytes grain = 1024;       // payload that goes through the fabric as one: whole packets
  bool shared_fma = false;  // windows are not the ranks' own
  std::uint32_t flow = 0;   // of posts whose order nobody counts on: sim::kUnordered where packets choose their ways

  // Bytes on the wire of so much payload, in packets.
  [[nodiscard]] Bytes on_wire(Bytes payload) const {
    return payload + header * (payload <= packet ? 1 : (payload + packet - 1) / packet);
  }
  // Whose links are of the classes that the topology has.
  [[nodiscard]] sim::FabricParameters links_of(const sim::Topology& topology) const;
};

// Takes all keys "link.*", "nic.*", "amo.*", "bte.*" and those of "host.*" that are the library's own. Throws
// UsageError for what the device cannot be. `prices`: of aries_prices().
[[nodiscard]] AriesParameters aries_parameters(conduit::MachineValues& machine, const conduit::HostPrices& prices);
// Of its hosts; a post is a store to the card.
[[nodiscard]] conduit::HostPrices aries_prices(conduit::MachineValues& machine);

// Throws UsageError for sizes and times that this device cannot have.
void check(const AriesParameters& parameters);

}  // namespace gasmeter::networks::aries
