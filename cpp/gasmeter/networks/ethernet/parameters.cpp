#include "gasmeter/networks/ethernet/parameters.hpp"

#include <string>

#include "gasmeter/networks/ethernet/packet.hpp"

namespace gasmeter::networks::ethernet {

using conduit::PrivatePrice;

ParameterTable table(EthernetNumbers& n) {
  EthernetParameters& p = n.device;
  ParameterTable table("ethernet");
  UncachedHost& u = n.uncached;
  Instructions& of = u.instructions;
  core_rows(table, n.prices, "crossbar:N");
  table.reword("host.poll_miss", "asking a socket that has nothing");
  table.reword("host.copy_bandwidth", "a copy from memory to memory by one core, between user and kernel too");
  table.reword("host.line_transfer", "loading a cache line that another rank wrote");
  table.software("host.clock_read", n.prices[PrivatePrice::clock_read].fixed, 30e-9,
                 "asking for the time, as libraries do for their timers");
  table.software("host.uncached_instruction", u.instruction, 20e-9,
                 "one instruction and its fetch, with option caches=false");
  table.often("host.uncached_access", u.access, 50e-9, "one load or store, beside that, with option caches=false");
  table.count("host.uncached_accesses", u.accesses, 40.0, "loads and stores of 100 instructions");
  table.size("host.uncached_copy", u.copied_at_a_time, 10.0,
             "moved by each load and store of a copy, with option caches=false");
  table.count("host.copy_start_instructions", of.copy_start, 10.0, "instructions of host.copy_start");
  table.count("host.update_instructions", of.update, 10.0, "instructions of host.update");
  table.count("host.clock_read_instructions", of.clock_read, 10.0, "instructions of host.clock_read");
  table.count("host.poll_miss_instructions", of.poll_miss, 1000.0, "instructions of host.poll_miss");
  instruction_rows(table, n.prices, kInstructions);
  optional_rows(table, n.prices);
  link_rows(table, p.link,
            {.hop = "one hop: half of a switch, and a cable", .buffer = "packets held by one input of a switch"});
  table.size("link.frame", p.frame, 38.0, "added to each packet on the wire");
  table.size("link.least_frame", p.least_frame, 84.0, "of a packet on the wire at least, that included");
  table.size("link.mtu", p.mtu, 1500.0, "largest packet, its IP header included");
  table.time("nic.pipeline", p.nic_pipeline, 2e-6, "of a packet in both cards together, besides its time on the wire");
  table.time("nic.moderation", p.moderation, 1e-9, "from a packet to the interrupt that tells of it");
  table.count("nic.ring", p.ring, 256.0, "packets that wait for the kernel; more are lost");
  table.software("kernel.send", p.send, 2e-6, "sendto of a datagram that is one packet, copy apart");
  table.software("kernel.fragment", p.fragment, 1e-6, "sendto, for each packet more");
  table.software("kernel.interrupt", p.interrupt, 2e-6, "from the interrupt to the first look at a packet");
  table.software("kernel.input", p.input, 1e-6, "protocol input of one packet");
  table.software("kernel.wake_up", p.wake_up, 3e-6, "waking a rank that sleeps in recvfrom, with option wait=sleep");
  table.software("kernel.receive", p.receive, 1e-6, "recvfrom of a datagram that waits, copy apart");
  table.software("kernel.ioctl", p.ioctl, 0.3e-6, "FIONREAD: asking a socket how many bytes wait");
  table.count("kernel.send_instructions", of.send, 4000.0, "instructions of kernel.send");
  table.count("kernel.fragment_instructions", of.fragment, 2000.0, "instructions of kernel.fragment");
  table.count("kernel.interrupt_instructions", of.interrupt, 3000.0, "instructions of kernel.interrupt");
  table.count("kernel.input_instructions", of.input, 2000.0, "instructions of kernel.input");
  table.count("kernel.wake_up_instructions", of.wake_up, 5000.0, "instructions of kernel.wake_up");
  table.count("kernel.receive_instructions", of.receive, 2000.0, "instructions of kernel.receive");
  table.count("kernel.ioctl_instructions", of.ioctl, 500.0, "instructions of kernel.ioctl");
  table.size("kernel.send_buffer", p.send_buffer, 262144.0, "of a socket: bytes that have not left");
  table.size("kernel.receive_buffer", p.receive_buffer, 4194304.0, "of a socket: datagrams that wait; more are lost");
  // Every IPv4 host takes 576 bytes, and a packet's length has 16 bits.
  table.require(
      p.mtu >= 576 && p.mtu <= kMostPacket - p.frame,
      "link.mtu of " + std::to_string(p.mtu) + " B; 576.." + std::to_string(kMostPacket - p.frame) + " are allowed");
  table.require(p.frame <= 4096 && p.least_frame <= 4096,
                "link.frame of " + std::to_string(p.frame) + " B, link.least_frame of " +
                    std::to_string(p.least_frame) + " B; 1..4096 are allowed");
  table.invent({{"placement", "one-per-node"},
                {"ranks_per_node", 4.0},
                {"host.call", 5e-9},
                {"host.poll_miss", 0.5e-6},
                {"host.update", 50e-9},
                {"host.cache", 1e6},
                {"host.copy_bandwidth", 5e9},
                {"host.memory_bandwidth", 30e9},
                {"host.line_store", 40e-9},
                {"host.line_transfer", 90e-9},
                {"link.bandwidth", 125e6},
                {"link.latency", 1e-6},
                {"link.buffer", 64.0}});
  return table;
}

}  // namespace gasmeter::networks::ethernet
