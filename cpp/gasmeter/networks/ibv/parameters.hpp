// Parameters of an InfiniBand installation.
#pragma once

#include <cstdint>

#include "gasmeter/base/units.hpp"
#include "gasmeter/conduit/instruction_counts.hpp"
#include "gasmeter/networks/machine_parameters.hpp"
#include "gasmeter/networks/parameter_table.hpp"
#include "gasmeter/sim/fabric/fabric.hpp"

namespace gasmeter::networks::ibv {

// Source: row ibv of tests/checks/am_instructions.py. Request 452, reply 449, less 32; handler 360, answered 328,
// less 106.
inline constexpr conduit::InstructionCounts kInstructions{.inject = 419, .deliver = 238};
// Source: row ibv-rings less row ibv. Miss 234 - 202; request and reply 132, handler and answered 112, less the 22 of
// 12 B.
inline constexpr std::int64_t kRingLook = 32;
inline constexpr std::int64_t kRingSend = 110;
inline constexpr std::int64_t kRingTake = 90;
inline constexpr std::int64_t kZeroWord = 11;  // to count zeros: (1410 - 722) / 64

// The defaults are round numbers for times that can be computed by hand, and describe no machine.
struct IbvParameters {
  sim::LinkParameters link{1'000'000, {100'000}, 16};
  Bytes header = 24;                               // bytes that each packet adds on the wire
  Bytes mtu = 256;                                 // largest payload of a packet
  std::int64_t host_link_per_byte_fs = 1'000'000;  // between host memory and the adapter, in each direction

  SimTime send_pipeline{200'000};      // from the doorbell to the first byte on the link
  SimTime receive_pipeline{200'000};   // from the last byte in the adapter to bytes that the host sees
  SimTime queue_pair{100'000};         // a queue pair is busy with a work request
  SimTime receive_completion{50'000};  // from a send's bytes to its completion at the target
  SimTime host_read{300'000};          // from the request to the first byte in the adapter
  Bytes descriptor = 64;               // of a work request
  Bytes inline_limit = 128;            // payload that a work request may carry itself
  SimTime not_ready_timer{5'000'000};  // a sender waits for this time if its target has posted no receive
  SimTime instruction{};               // of the host's protocol code

  // Messages by RDMA: the time of a look at a free slot, and the extra time of a message over a send, at either side.
  // The extra work is the header, and counting zero bytes.
  [[nodiscard]] SimTime ring_look() const { return instruction * kRingLook; }
  [[nodiscard]] SimTime ring_send(Bytes bytes) const { return instruction * (kRingSend + kZeroWord * words(bytes)); }
  [[nodiscard]] SimTime ring_take(Bytes bytes) const { return instruction * (kRingTake + kZeroWord * words(bytes)); }
  [[nodiscard]] static std::int64_t words(Bytes bytes) { return static_cast<std::int64_t>((bytes + 7) / 8); }
};

struct IbvNumbers : HostNumbers {
  IbvParameters device;
};

// Table of all keys of a machine.
[[nodiscard]] ParameterTable table(IbvNumbers& numbers);

}  // namespace gasmeter::networks::ibv
