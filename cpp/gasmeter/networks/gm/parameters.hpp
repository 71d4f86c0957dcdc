// What a Myrinet installation with GM is described by, apart from its host and its topology.
#pragma once

#include <cstdint>
#include <optional>

#include "gasmeter/base/units.hpp"
#include "gasmeter/conduit/instruction_counts.hpp"
#include "gasmeter/conduit/machine_values.hpp"
#include "gasmeter/sim/fabric.hpp"

namespace gasmeter::networks::gm {

// gm of tests/am_instructions.py: request 311, reply 325, less 32; handler 196, answered 192, less 106.
inline constexpr conduit::InstructionCounts kInstructions{.inject = 286, .deliver = 88};

// The defaults are round numbers for times that can be computed by hand; they stand for no machine.
struct GmParameters {
  sim::LinkParameters link{1'000'000, {100'000}, 16};
  Bytes header = 24;                         // that each packet adds on the wire
  Bytes mtu = 256;                           // largest payload of a packet
  std::int64_t pci_per_byte_fs = 1'000'000;  // the card's DMA, either way

  SimTime packet{300'000};           // the firmware is busy with a packet of data, at either side
  SimTime directed{200'000};         // likewise at the target, with one of a directed send
  bool gets = false;                 // GM 2: cards answer gets by themselves, each for `directed`
  SimTime acknowledgement{100'000};  // likewise at either side, with one that answers
  SimTime dma_start{50'000};         // until a DMA moves its first byte
  Bytes descriptor = 32;             // what software stores into the card for a send or a receive

  unsigned send_tokens = 16;  // of a port
  unsigned receive_tokens = 16;
  SimTime hold_timer{5'000'000};       // a message that found no receive is held so long
  SimTime send{30'000};                // the library's own work for a send
  SimTime receive{40'000};             // likewise for a message that has come
  std::optional<SimTime> interrupt{};  // of a core by an event; none: its price is not known
  Bytes dmaable = 0;                   // that a node may have registered, its ranks' shares alike; 0: no limit
};

// Takes all keys "link.*", "lanai.*", "pci.*", "port.*" and "host.gm_*". Throws UsageError for what the device cannot
// be.
[[nodiscard]] GmParameters gm_parameters(conduit::MachineValues& machine);

// Throws UsageError for sizes and times that this device cannot have.
void check(const GmParameters& parameters);

}  // namespace gasmeter::networks::gm
