// What an SCI installation is described by, apart from its host and its topology.
#pragma once

#include <cstdint>

#include "gasmeter/base/units.hpp"
#include "gasmeter/conduit/instruction_counts.hpp"
#include "gasmeter/conduit/machine_values.hpp"
#include "gasmeter/sim/fabric.hpp"

namespace gasmeter::networks::sci {

// sci of tests/am_instructions.py, less what every host pays.
inline constexpr conduit::InstructionCounts kInstructions{.inject = 483, .deliver = 329};
// A look at a flag that is not set: load, compare, branch, next.
inline constexpr std::int64_t kFlagLook = 4;

// The defaults are round numbers for times that can be computed by hand; they stand for no machine.
struct SciParameters {
  sim::LinkParameters link{1'000'000, {100'000}, 16};
  Bytes header = 20;                               // that each packet adds on the wire, its echo apart
  Bytes echo = 8;                                  // of an echo, on the wire
  SimTime turn{300'000};                           // into the ring of another dimension
  unsigned outstanding{16};                        // transactions of a card that have no echo yet
  Bytes gather = 128;                              // largest packet that stores are gathered into: 64 or 128
  SimTime send{400'000};                           // from a burst in the bridge to its first byte on the link
  SimTime receive{400'000};                        // from a packet's last byte in the card to bytes that its host sees
  SimTime read{2'000'000};                         // a remote load in the target's bridge
  std::int64_t host_link_per_byte_fs = 2'000'000;  // PCI between host and bridge
  SimTime dma_start{30'000'000};                   // from posting to the engine's first read
  std::int64_t dma_per_byte_fs = 4'000'000;        // at which the engine reads memory
  SimTime map{200'000'000};                        // a remote segment
  Bytes segment_limit = Bytes{2} << 20U;           // that the driver finds contiguous
  SimTime instruction{};                           // of the host's protocol code

  [[nodiscard]] SimTime flag_looks(std::uint64_t flags) const {
    return instruction * (kFlagLook * static_cast<std::int64_t>(flags));
  }
};

// Takes all keys "link.*", "bridge.*", "dma.*" and "driver.*", and host.instruction.
// `host_link_per_byte_fs`: of host.pio_bandwidth, as host_prices() has taken it. Throws UsageError for what the card
// cannot be.
[[nodiscard]] SciParameters sci_parameters(conduit::MachineValues& machine, std::int64_t host_link_per_byte_fs);

// Throws UsageError for sizes and counts that this card cannot have.
void check(const SciParameters& parameters);

}  // namespace gasmeter::networks::sci
