// What an installation of SeaStar cards with Portals is described by, apart from its host and its topology.
#pragma once

#include <cstdint>

#include "gasmeter/base/units.hpp"
#include "gasmeter/conduit/host_prices.hpp"
#include "gasmeter/conduit/instruction_counts.hpp"
#include "gasmeter/conduit/machine_values.hpp"
#include "gasmeter/sim/fabric.hpp"

namespace gasmeter::networks::portals {

// portals of tests/am_instructions.py: request 671, reply 437, handler 412, answered 375; less core's.
inline constexpr conduit::InstructionCounts kInstructions{.inject = 522, .deliver = 288};

// Who matches what arrives.
enum class Mode : std::uint8_t {
  generic,      // a core of the host, which each arrival interrupts
  accelerated,  // the card
};

// The defaults are round numbers for times that can be computed by hand; they stand for no machine.
struct PortalsParameters {
  sim::LinkParameters link{500'000, {50'000}, 16};
  std::int64_t nic_per_byte_fs = 1'000'000;  // between card and host memory, each way
  Bytes packet = 64;                         // payload of one, and what it takes of a link
  Bytes header = 64;                         // a header packet on the wire
  Bytes in_header = 16;                      // payload that rides in it

  SimTime send{400'000};         // the firmware is busy with a message that leaves
  SimTime receive{600'000};      // likewise, one that arrives
  SimTime ack{300'000};          // likewise, an acknowledgement that it makes
  SimTime dma_start{200'000};    // until a DMA moves its first byte
  unsigned dma_slots = 256;      // messages of one card that may be leaving
  SimTime interrupt{2'000'000};  // of a core by an arrival
  SimTime match_step{30'000};    // an entry that is looked at
  SimTime call{500'000};         // of PtlPut or PtlGet
  SimTime eq_empty{50'000};      // looking into an event queue without one
  SimTime eq_event{100'000};     // taking one

  Bytes mpi_eager = 4096;         // of Cray's MPI over it: a longer message is fetched
  SimTime mpi_software{500'000};  // that MPI, with a message at one side

  Mode mode = Mode::generic;
  bool other_core = false;  // interrupts are taken by a core on which no rank runs
};

// Takes all keys "link.*", "nic.*", "mpi.*" and those of "host.*" that are Portals' own. Throws UsageError for what the
// device cannot be.
[[nodiscard]] PortalsParameters portals_parameters(conduit::MachineValues& machine);
// Of its hosts; making a memory descriptor is registration, ending one deregistration: half each of what both take.
[[nodiscard]] conduit::HostPrices portals_prices(conduit::MachineValues& machine);

// Throws UsageError for sizes and times that this device cannot have.
void check(const PortalsParameters& parameters);

}  // namespace gasmeter::networks::portals
