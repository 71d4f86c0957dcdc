// Parameters of hosts that exchange datagrams over a switched network, without its topology.
#pragma once

#include <cstdint>

#include "gasmeter/base/units.hpp"
#include "gasmeter/conduit/host.hpp"
#include "gasmeter/conduit/instruction_counts.hpp"
#include "gasmeter/conduit/machine_values.hpp"
#include "gasmeter/sim/fabric.hpp"

namespace gasmeter::networks::ethernet {

// Source: row amudp of tests/checks/am_instructions.py. Request 453, reply 460, less 32; handler 413, answered 421,
// less 106 and the 32 instructions in which the conduit reads a header.
inline constexpr conduit::InstructionCounts kInstructions{.inject = 425, .deliver = 279};

// Defaults are round numbers for times that can be computed by hand. They describe no machine.
struct EthernetParameters {
  sim::LinkParameters link{8'000'000, {1'000'000}, 1024};  // 125 MB/s, 1 us
  Bytes frame = 38;                                        // bytes that each packet adds on the wire
  Bytes least_frame = 84;                                  // smallest packet on the wire, `frame` included
  Bytes mtu = 1500;                                        // largest packet, its IP header included

  SimTime nic_pipeline{2'000'000};  // time of a packet in both cards together, besides its wire time
  SimTime moderation{1'000};        // from a packet's arrival to its interrupt
  unsigned ring = 256;              // packets that wait for the kernel; more are lost

  // Times of the kernel's path, without copies.
  SimTime send{2'000'000};       // sendto of a datagram that is one packet
  SimTime fragment{1'000'000};   // ... for each further packet
  SimTime interrupt{2'000'000};  // from the interrupt to the first look at a packet
  SimTime input{1'000'000};      // for a packet, up to the socket
  SimTime wake_up{3'000'000};    // for a rank that sleeps in recvfrom
  SimTime receive{1'000'000};    // recvfrom of a datagram that waits
  SimTime ioctl{300'000};        // FIONREAD, which returns the number of waiting bytes
  Bytes send_buffer = 256 * 1024;
  Bytes receive_buffer = 4 * 1024 * 1024;
};

// Read all keys "link.*", "nic.*" and "kernel.*". Throws UsageError for sizes that packets cannot have.
[[nodiscard]] EthernetParameters ethernet_parameters(conduit::MachineValues& machine);

// Return the host's prices without those that no socket uses.
[[nodiscard]] conduit::HostPrices socket_host_prices(conduit::MachineValues& machine);

// Throws UsageError for sizes that packets cannot have.
void check(const EthernetParameters& parameters);

}  // namespace gasmeter::networks::ethernet
