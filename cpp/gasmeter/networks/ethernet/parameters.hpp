// Parameters of hosts that exchange datagrams over a switched network, without its topology.
#pragma once

#include <cstdint>

#include "gasmeter/base/units.hpp"
#include "gasmeter/conduit/instruction_counts.hpp"
#include "gasmeter/networks/machine_parameters.hpp"
#include "gasmeter/networks/parameter_table.hpp"
#include "gasmeter/sim/fabric/fabric.hpp"

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

// Instructions of each action that software is charged for.
struct Instructions {
  conduit::InstructionCounts counted;  // instructions of protocol code
  unsigned copy_start = 1;
  unsigned update = 1;
  unsigned clock_read = 1;
  unsigned poll_miss = 1;
  unsigned send = 1;
  unsigned fragment = 1;
  unsigned interrupt = 1;
  unsigned input = 1;
  unsigned wake_up = 1;
  unsigned receive = 1;
  unsigned ioctl = 1;
};

struct UncachedHost {
  SimTime instruction{};       // time of an instruction, its share of a fetch from memory included
  SimTime access{};            // additional time of a load or store
  unsigned accesses = 1;       // loads and stores of 100 instructions
  Bytes copied_at_a_time = 1;  // bytes by one load and one store of a copy
  Instructions instructions;

  [[nodiscard]] SimTime time_of(unsigned count) const {
    return instruction * count + SimTime{(access * count * accesses).ps / 100};
  }
};

struct EthernetNumbers : HostNumbers {
  EthernetParameters device;
  UncachedHost uncached{.instructions = {.counted = kInstructions}};
};

// Table of all keys of a machine.
[[nodiscard]] ParameterTable table(EthernetNumbers& numbers);

}  // namespace gasmeter::networks::ethernet
