// Parameters of an installation of HPS adapters with LAPI.
#pragma once

#include <cstdint>

#include "gasmeter/base/units.hpp"
#include "gasmeter/conduit/instruction_counts.hpp"
#include "gasmeter/networks/machine_parameters.hpp"
#include "gasmeter/networks/parameter_table.hpp"
#include "gasmeter/sim/fabric/fabric.hpp"

namespace gasmeter::networks::lapi {

// Source: row "lapi, polled" of docs/notes/instruction-counts.md. Inject: mean of request and reply, (374 + 379) / 2,
// less 32 of a header. Deliver: the poll to a handler, 274, less 106 of its call.
inline constexpr conduit::InstructionCounts kInstructions{.inject = 345, .deliver = 168};

// The defaults are round numbers for times that can be computed by hand, and describe no machine.
struct LapiParameters {
  sim::LinkParameters link{1'000'000, {100'000}, 16};
  Bytes header = 24;  // bytes that each packet adds on the wire
  Bytes mtu = 1024;   // largest payload of a packet

  // The adapter of a node, which its tasks share.
  SimTime packet{100'000};                       // busy with a packet, at either side
  SimTime latency{300'000};                      // of a packet's path through the adapter, besides
  std::int64_t adapter_per_byte_fs = 1'000'000;  // between host memory and adapter, both directions together
  SimTime rdma_latency{2'000'000};               // of a transfer in RDMA mode, apart from its packets
  Bytes handle = Bytes{1} << 20U;                // largest memory of one handle

  unsigned send_fifo = 64;  // packets of a task that its adapter has not read
  unsigned window = 32;     // packets to one task that the task has not taken
  unsigned rdma = 16;       // transfers of a task in RDMA mode in flight

  SimTime call{60'000};                   // LAPI's own work to start a message
  SimTime per_packet{20'000};             // LAPI's own work for each further packet, and for each arriving packet
  SimTime header_handler{50'000};         // until a header handler runs
  SimTime completion_handler{4'000'000};  // until a completion handler runs
  SimTime interrupt{3'000'000};           // of a computing core by an arrival
};

struct LapiNumbers : HostNumbers {
  LapiParameters device;
};

// Table of all keys of a machine.
[[nodiscard]] ParameterTable table(LapiNumbers& numbers);

}  // namespace gasmeter::networks::lapi
