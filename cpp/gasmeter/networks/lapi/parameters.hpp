// What an installation of HPS adapters with LAPI is described by, apart from its host and its topology.
#pragma once

#include <cstdint>

#include "gasmeter/base/units.hpp"
#include "gasmeter/conduit/host.hpp"
#include "gasmeter/conduit/instruction_counts.hpp"
#include "gasmeter/conduit/machine_values.hpp"
#include "gasmeter/sim/fabric.hpp"

namespace gasmeter::networks::lapi {

// lapi of tests/am_instructions.py, polled: request 374, reply 379, less 32; handler 274, answered 274, less 106.
inline constexpr conduit::InstructionCounts kInstructions{.inject = 345, .deliver = 168};

// The defaults are round numbers for times that can be computed by hand; they stand for no machine.
struct LapiParameters {
  sim::LinkParameters link{1'000'000, {100'000}, 16};
  Bytes header = 24;  // that each packet adds on the wire
  Bytes mtu = 1024;   // largest payload of a packet

  // The adapter of a node, which its tasks share.
  SimTime packet{100'000};                       // busy with one packet, at either side
  SimTime latency{300'000};                      // of its way through, beside that
  std::int64_t adapter_per_byte_fs = 1'000'000;  // between host memory and adapter, both directions together
  SimTime rdma_latency{2'000'000};               // of a transfer that the adapter does alone, beside its packets
  Bytes handle = Bytes{1} << 20U;                // most memory of one handle

  unsigned send_fifo = 64;  // packets of a task that its adapter has not read
  unsigned window = 32;     // packets on their way to one task, until that has taken them
  unsigned rdma = 16;       // transfers of a task that adapters do, under way

  SimTime call{60'000};                   // LAPI's own work to start a message
  SimTime per_packet{20'000};             // likewise for each further packet, and for each that has come
  SimTime header_handler{50'000};         // until a header handler runs
  SimTime completion_handler{4'000'000};  // until a completion handler does
  SimTime interrupt{3'000'000};           // of a core that computes, by an arrival
};

// Takes all keys "link.*", "adapter.*", "task.*" and those "host.*" that are LAPI's. Throws UsageError for what the
// device cannot be.
[[nodiscard]] LapiParameters lapi_parameters(conduit::MachineValues& machine);
// The other keys "host.*".
[[nodiscard]] conduit::HostPrices lapi_prices(conduit::MachineValues& machine);

// Throws UsageError for sizes and times that this device cannot have.
void check(const LapiParameters& parameters);

}  // namespace gasmeter::networks::lapi
