// Parameters of an EXTOLL installation.
#pragma once

#include <cstdint>

#include "gasmeter/base/units.hpp"
#include "gasmeter/conduit/instruction_counts.hpp"
#include "gasmeter/networks/machine_parameters.hpp"
#include "gasmeter/networks/parameter_table.hpp"
#include "gasmeter/sim/fabric/fabric.hpp"

namespace gasmeter::networks::extoll {

// Source: row extoll of tests/checks/am_instructions.py. Request 484, reply 493, less 32; handler 283, answered 274,
// less 106.
inline constexpr conduit::InstructionCounts kInstructions{.inject = 457, .deliver = 172};

// The defaults are round numbers for times that can be computed by hand, and describe no machine.
struct ExtollParameters {
  sim::LinkParameters link{2'000'000, {300'000}, 4};
  Bytes header = 16;                               // bytes that each packet adds on the wire
  std::int64_t host_link_per_byte_fs = 1'000'000;  // HyperTransport between a node and its card, in each direction

  Bytes velo_payload = 56;               // of a VELO packet
  unsigned mailbox_slots = 16;           // of each rank
  SimTime velo_send_pipeline{150'000};   // from the store burst to the first byte on the link
  SimTime velo_send_engine{20'000};      // busy with a packet, apart from its bytes at a link's speed
  SimTime velo_receive_engine{200'000};  // from the last byte in the card to a status word that the host sees
  unsigned read_pointer_update = 4;      // slots that software frees before it tells the card

  Bytes packet = 256;  // largest payload of an RMA packet
  Bytes descriptor = 24;
  Bytes notification = 16;
  SimTime requester{200'000};  // time for which the unit is busy with a packet
  SimTime completer{200'000};
  SimTime responder{200'000};
  SimTime host_read{300'000};  // from the request to the first byte in the card
  unsigned notification_slots = 16;
};

struct ExtollNumbers : HostNumbers {
  ExtollParameters device;
};

// Table of all keys of a machine.
[[nodiscard]] ParameterTable table(ExtollNumbers& numbers);

}  // namespace gasmeter::networks::extoll
