// Parameters of an installation of Aries cards.
#pragma once

#include <cstdint>

#include "gasmeter/base/units.hpp"
#include "gasmeter/conduit/instruction_counts.hpp"
#include "gasmeter/networks/machine_parameters.hpp"
#include "gasmeter/networks/parameter_table.hpp"
#include "gasmeter/sim/fabric/fabric.hpp"
#include "gasmeter/sim/topology/topology.hpp"

namespace gasmeter::networks::aries {

// Source: row aries of tests/checks/am_instructions.py. Request 779, reply 549, handler 311, answered 302; less core's.
// Programs without a conduit execute no such instructions.
inline constexpr conduit::InstructionCounts kInstructions{.inject = 632, .deliver = 201};

// The defaults are round numbers for times that can be computed by hand, and describe no machine.
struct AriesParameters {
  sim::LinkParameters link{1'000'000, {100'000}, 16};      // between routers, by electrical cables and backplanes
  sim::LinkParameters optical{1'000'000, {100'000}, 16};   // between groups of routers
  sim::LinkParameters terminal{1'000'000, {100'000}, 16};  // between a card and its router
  Bytes header = 24;                                       // bytes that each packet adds on the wire
  Bytes packet = 64;                                       // payload of a packet
  std::int64_t nic_per_byte_fs = 1'000'000;                // between card and host memory, in each direction
  std::int64_t pio_per_byte_fs = 1'000'000;                // a core stores into a window

  SimTime request{10'000};       // the card is busy with a put, get or atomic of its node
  SimTime pass{100'000};         // a packet passes the cards at both ends, without the links
  SimTime host_read{500'000};    // from the request to the first byte in the card
  SimTime host_write{200'000};   // from the card to host memory
  SimTime amo{20'000};           // an atomic operation on a word that the card has at hand
  unsigned amo_words = 4;        // words that the card has at hand
  unsigned fma_windows = 123;    // ranks of a node that may have a window each
  SimTime bte_start{1'000'000};  // from a descriptor's turn to its first byte
  unsigned bte_engines = 2;
  SimTime cq_event{100'000};   // to take an event from a completion queue
  SimTime cq_empty{50'000};    // to look into an empty completion queue
  SimTime sharing{1'000'000};  // a post by a window that ranks share

  Bytes grain = 1024;       // payload that crosses the fabric as one packet: whole packets of the card
  bool shared_fma = false;  // ranks share windows
  std::uint32_t flow = 0;   // of posts without a promised order; sim::kUnordered if packets choose their paths

  // Bytes on the wire of a payload in packets.
  [[nodiscard]] Bytes on_wire(Bytes payload) const {
    return payload + header * (payload <= packet ? 1 : (payload + packet - 1) / packet);
  }
  // Parameters of the links, by the link classes of the topology.
  [[nodiscard]] sim::FabricParameters links_of(const sim::Topology& topology) const;
};

struct AriesNumbers : HostNumbers {
  AriesParameters device;
};

// Table of all keys of a machine.
[[nodiscard]] ParameterTable table(AriesNumbers& numbers);

}  // namespace gasmeter::networks::aries
