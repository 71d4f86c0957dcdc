// Parameters of an installation of SeaStar cards with Portals.
#pragma once

#include <cstdint>

#include "gasmeter/base/units.hpp"
#include "gasmeter/conduit/instruction_counts.hpp"
#include "gasmeter/networks/machine_parameters.hpp"
#include "gasmeter/networks/parameter_table.hpp"
#include "gasmeter/sim/fabric/fabric.hpp"

namespace gasmeter::networks::portals {

// Source: row portals of tests/checks/am_instructions.py. Request 671, reply 437, handler 412, answered 375;
// less core's.
inline constexpr conduit::InstructionCounts kInstructions{.inject = 522, .deliver = 288};

// Unit that matches arriving operations.
enum class Mode : std::uint8_t {
  generic,      // by a core of the host, which each arrival interrupts
  accelerated,  // by the card
};

// The defaults are round numbers for times that can be computed by hand, and describe no machine.
struct PortalsParameters {
  sim::LinkParameters link{500'000, {50'000}, 16};
  std::int64_t nic_per_byte_fs = 1'000'000;  // between card and host memory, in each direction
  Bytes packet = 64;                         // payload of a packet, and its size on a link
  Bytes header = 64;                         // a header packet on the wire
  Bytes in_header = 16;                      // payload that travels in the header packet

  SimTime send{400'000};         // the firmware is busy with a message that leaves
  SimTime receive{600'000};      // the firmware is busy with a message that arrives
  SimTime ack{300'000};          // the firmware is busy with an acknowledgement that it makes
  SimTime dma_start{200'000};    // until a DMA moves its first byte
  unsigned dma_slots = 256;      // messages of one card that may be leaving
  SimTime interrupt{2'000'000};  // of a core by an arrival
  SimTime match_step{30'000};    // a look at one match entry
  SimTime call{500'000};         // of PtlPut or PtlGet
  SimTime eq_empty{50'000};      // a look into an empty event queue
  SimTime eq_event{100'000};     // to take one event

  Bytes mpi_eager = 4096;         // of Cray's MPI over Portals: the receiver fetches longer messages
  SimTime mpi_software{500'000};  // that MPI is busy with a message at one side

  Mode mode = Mode::generic;
  bool other_core = false;  // a core without a rank takes the interrupts
};

struct PortalsNumbers : HostNumbers {
  PortalsParameters device;
};

// Table of all keys of a machine.
[[nodiscard]] ParameterTable table(PortalsNumbers& numbers);

}  // namespace gasmeter::networks::portals
