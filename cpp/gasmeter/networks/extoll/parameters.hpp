// What an EXTOLL installation is described by, apart from its host and its topology.
#pragma once

#include <cstdint>

#include "gasmeter/base/units.hpp"
#include "gasmeter/conduit/instruction_counts.hpp"
#include "gasmeter/conduit/machine_values.hpp"
#include "gasmeter/sim/fabric.hpp"

namespace gasmeter::networks::extoll {

// extoll of tests/am_instructions.py: request 484, reply 493, less 32; handler 283, answered 274, less 106.
inline constexpr conduit::InstructionCounts kInstructions{.inject = 457, .deliver = 172};

// The defaults are round numbers for times that can be computed by hand; they stand for no machine.
struct ExtollParameters {
  sim::LinkParameters link{2'000'000, {300'000}, 4};
  Bytes header = 16;                               // that each packet adds on the wire
  std::int64_t host_link_per_byte_fs = 1'000'000;  // HyperTransport between a node and its card, each way

  Bytes velo_payload = 56;               // of a VELO packet
  unsigned mailbox_slots = 16;           // of each rank
  SimTime velo_send_pipeline{150'000};   // from the store burst to the first byte on the link
  SimTime velo_send_engine{20'000};      // busy with a packet, beside its bytes at a link's speed
  SimTime velo_receive_engine{200'000};  // from the last byte in the NIC to a status word that the host sees
  unsigned read_pointer_update = 4;      // slots freed before the card is told

  Bytes packet = 256;  // largest payload of an RMA packet
  Bytes descriptor = 24;
  Bytes notification = 16;
  SimTime requester{200'000};  // busy with a packet, likewise the other two
  SimTime completer{200'000};
  SimTime responder{200'000};
  SimTime host_read{300'000};  // from asking host memory to its first byte in the card
  unsigned notification_slots = 16;
};

// Takes all keys "link.*", "velo.*" and "rma.*". `host_link_per_byte_fs`: of host.pio_bandwidth, as host_prices() has
// taken it. Throws UsageError for what the device cannot be.
[[nodiscard]] ExtollParameters extoll_parameters(conduit::MachineValues& machine, std::int64_t host_link_per_byte_fs);

// Throws UsageError for sizes that the packets of this device cannot have.
void check(const ExtollParameters& parameters);

}  // namespace gasmeter::networks::extoll
