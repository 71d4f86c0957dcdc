// Parameters of a Myrinet installation with GM.
#pragma once

#include <cstdint>
#include <optional>

#include "gasmeter/base/units.hpp"
#include "gasmeter/conduit/instruction_counts.hpp"
#include "gasmeter/networks/machine_parameters.hpp"
#include "gasmeter/networks/parameter_table.hpp"
#include "gasmeter/sim/fabric/fabric.hpp"

namespace gasmeter::networks::gm {

// Source: row gm of tests/checks/am_instructions.py. inject: mean of request (311) and reply (325), less 32 of
// the layer `core`, which header_build covers. deliver: mean of handler (196) and answered handler (192), less 106 of
// that layer, which dispatch covers.
inline constexpr conduit::InstructionCounts kInstructions{.inject = 286, .deliver = 88};

// The defaults are round numbers for times that can be computed by hand, and describe no machine.
struct GmParameters {
  sim::LinkParameters link{1'000'000, {100'000}, 16};
  Bytes header = 24;                         // bytes that each packet adds on the wire
  Bytes mtu = 256;                           // largest payload of a packet
  std::int64_t pci_per_byte_fs = 1'000'000;  // the card's DMA, in either direction

  SimTime packet{300'000};           // the firmware is busy with a packet of data, at either side
  SimTime directed{200'000};         // the firmware is busy with a packet of a directed send, at the target
  bool gets = false;                 // GM 2: cards answer gets by themselves, each for `directed`
  SimTime acknowledgement{100'000};  // the firmware is busy with an answer, at either side
  SimTime dma_start{50'000};         // until a DMA moves its first byte
  Bytes descriptor = 32;             // bytes that software stores into the card for a send or a receive

  unsigned send_tokens = 16;  // of a port
  unsigned receive_tokens = 16;
  SimTime hold_timer{5'000'000};       // a message without a receive is held for this time
  SimTime send{30'000};                // the library's own work for a send
  SimTime receive{40'000};             // the library's own work for a message that has arrived
  std::optional<SimTime> interrupt{};  // of a core by an event; none: its price is not known
  Bytes dmaable = 0;                   // a node's limit of registered memory, shared equally by its ranks; 0: none
};

struct GmNumbers : HostNumbers {
  GmParameters device;
  unsigned gm_version = 1;
  bool pins = false;  // the machine states the price of a deregistration
};

// Table of all keys of a machine.
[[nodiscard]] ParameterTable table(GmNumbers& numbers);

}  // namespace gasmeter::networks::gm
