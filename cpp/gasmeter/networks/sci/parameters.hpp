// Parameters of an SCI installation.
#pragma once

#include <cstdint>

#include "gasmeter/base/units.hpp"
#include "gasmeter/conduit/instruction_counts.hpp"
#include "gasmeter/networks/machine_parameters.hpp"
#include "gasmeter/networks/parameter_table.hpp"
#include "gasmeter/networks/sci/sca_mpi_wire.hpp"
#include "gasmeter/sim/fabric/fabric.hpp"

namespace gasmeter::networks::sci {

// Source: row sci of tests/checks/am_instructions.py, less what every host pays.
inline constexpr conduit::InstructionCounts kInstructions{.inject = 483, .deliver = 329};
// A look at a flag that is not set: load, compare, branch, next.
inline constexpr std::int64_t kFlagLook = 4;

// The defaults are round numbers for times that can be computed by hand, and describe no machine.
struct SciParameters {
  sim::LinkParameters link{1'000'000, {100'000}, 16};
  Bytes header = 20;                               // bytes that each packet adds on the wire, without its echo
  Bytes echo = 8;                                  // bytes of an echo on the wire
  SimTime turn{300'000};                           // into the ring of another dimension
  unsigned outstanding{16};                        // transactions of a card that have no echo yet
  Bytes gather = 128;                              // largest packet that stores are gathered into: 64 or 128
  SimTime send{400'000};                           // from a burst in the bridge to its first byte on the link
  SimTime receive{400'000};                        // from a packet's last byte in the card to bytes that its host sees
  SimTime read{2'000'000};                         // of a remote load, in the target's bridge
  std::int64_t host_link_per_byte_fs = 2'000'000;  // PCI between host and bridge
  SimTime dma_start{30'000'000};                   // from posting to the engine's first read
  std::int64_t dma_per_byte_fs = 4'000'000;        // the engine reads memory at this rate
  SimTime map{200'000'000};                        // to map a remote segment
  Bytes segment_limit = Bytes{2} << 20U;           // largest contiguous memory that the driver finds
  SimTime instruction{};                           // of the host's protocol code

  [[nodiscard]] SimTime flag_looks(std::uint64_t flags) const {
    return instruction * (kFlagLook * static_cast<std::int64_t>(flags));
  }
};

struct SciNumbers : HostNumbers {
  SciParameters device;
  ScaMpiSizes messages;
};

// Table of all keys of a machine.
[[nodiscard]] ParameterTable table(SciNumbers& numbers);

}  // namespace gasmeter::networks::sci
