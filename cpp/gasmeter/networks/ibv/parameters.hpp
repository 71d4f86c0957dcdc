// What an InfiniBand installation is described by, apart from its host and its topology.
#pragma once

#include <cstdint>

#include "gasmeter/base/units.hpp"
#include "gasmeter/conduit/instruction_counts.hpp"
#include "gasmeter/conduit/machine_values.hpp"
#include "gasmeter/sim/fabric.hpp"

namespace gasmeter::networks::ibv {

// ibv of tests/am_instructions.py: request 452, reply 449, less 32; handler 360, answered 328, less 106.
inline constexpr conduit::InstructionCounts kInstructions{.inject = 419, .deliver = 238};
// ibv-rings less ibv: miss 234 - 202; request and reply 132, and handler and answered 112, less the 22 of 12 B.
inline constexpr std::int64_t kRingLook = 32;
inline constexpr std::int64_t kRingSend = 110;
inline constexpr std::int64_t kRingTake = 90;
inline constexpr std::int64_t kZeroWord = 11;  // zeros: (1410 - 722) / 64

// The defaults are round numbers for times that can be computed by hand; they stand for no machine.
struct IbvParameters {
  sim::LinkParameters link{1'000'000, {100'000}, 16};
  Bytes header = 24;                               // that each packet adds on the wire
  Bytes mtu = 256;                                 // largest payload of a packet
  std::int64_t host_link_per_byte_fs = 1'000'000;  // between host memory and the adapter, each way

  SimTime send_pipeline{200'000};      // from the doorbell to the first byte on the link
  SimTime receive_pipeline{200'000};   // from the last byte in the adapter to bytes that the host sees
  SimTime queue_pair{100'000};         // a queue pair is busy with a work request
  SimTime receive_completion{50'000};  // a send's completion at its target comes so much after its bytes
  SimTime host_read{300'000};          // from asking host memory to its first byte in the adapter
  Bytes descriptor = 64;               // of a work request
  Bytes inline_limit = 128;            // payload that a work request may carry itself
  SimTime not_ready_timer{5'000'000};  // a sender waits so long after its target had no receive posted
  SimTime instruction{};               // of the host's protocol code

  // Of messages by RDMA: a look at a slot that is free; what one of so many bytes takes more than a send, at either
  // side: its header, and counting its bytes that are 0.
  [[nodiscard]] SimTime ring_look() const { return instruction * kRingLook; }
  [[nodiscard]] SimTime ring_send(Bytes bytes) const { return instruction * (kRingSend + kZeroWord * words(bytes)); }
  [[nodiscard]] SimTime ring_take(Bytes bytes) const { return instruction * (kRingTake + kZeroWord * words(bytes)); }
  [[nodiscard]] static std::int64_t words(Bytes bytes) { return static_cast<std::int64_t>((bytes + 7) / 8); }
};

// Takes all keys "link.*" and "hca.*", and host.instruction.
// `host_link_per_byte_fs`: of host.pio_bandwidth, as host_prices() has taken it. Throws UsageError for what the device
// cannot be.
[[nodiscard]] IbvParameters ibv_parameters(conduit::MachineValues& machine, std::int64_t host_link_per_byte_fs);

// Throws UsageError for sizes that the packets of this device cannot have.
void check(const IbvParameters& parameters);

}  // namespace gasmeter::networks::ibv
