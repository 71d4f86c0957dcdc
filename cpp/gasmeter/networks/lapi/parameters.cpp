#include "gasmeter/networks/lapi/parameters.hpp"

#include "gasmeter/networks/lapi/packet.hpp"

namespace gasmeter::networks::lapi {

using conduit::SharedPrice;

ParameterTable table(LapiNumbers& n) {
  LapiParameters& p = n.device;
  ParameterTable table("lapi");
  conduit::Price& registration = n.prices[SharedPrice::registration];
  conduit::Price& deregistration = n.prices[SharedPrice::deregistration];
  core_rows(table, n.prices, "crossbar:N");
  kernel_rows(table, n.prices);
  instruction_rows(table, n.prices, kInstructions);
  optional_rows(table, n.prices);
  table.software("host.registration", registration.fixed, 40e-6, "registering memory, for each handle");
  table.page("host.registration_per_page", registration.per_byte_fs, 0.5e-6, "registering memory, for each page");
  table.software("host.deregistration", deregistration.fixed, 20e-6, "undoing that, for each handle");
  table.page("host.deregistration_per_page", deregistration.per_byte_fs, 0.25e-6, "undoing that, for each page");
  table.software("host.lapi_call", p.call, 0.8e-6, "LAPI's work to start a message, its first packet among it");
  table.software("host.lapi_packet", p.per_packet, 0.1e-6,
                 "likewise for each further packet, and for each that has come");
  table.software("host.header_handler", p.header_handler, 0.7e-6, "what LAPI takes to start a header handler");
  table.software("host.completion_handler", p.completion_handler, 40e-6,
                 "what LAPI takes to start a completion handler");
  table.software("host.interrupt", p.interrupt, 20e-6, "of a rank that computes, by what comes");
  link_rows(table, p.link, {.hop = "one hop: switch chip and cable", .buffer = "packets held by one input"});
  table.bytes("link.header", p.header, 24.0, "added to each packet on the wire: route, sequence, checksum")
      .within(1, 4096);
  table.size("link.mtu", p.mtu, 2048.0, "largest payload of one packet").within(kLeastMtu, kMostMtu);
  table.time("adapter.packet", p.packet, 0.2e-6, "the adapter is busy with a packet, at either side");
  table.time("adapter.latency", p.latency, 0.5e-6, "of a packet's way through the adapter, beside that");
  table.bandwidth("adapter.bandwidth", p.adapter_per_byte_fs, 3e9,
                  "between adapter and host memory, both directions together");
  table.time("adapter.rdma_latency", p.rdma_latency, 5e-6, "what RDMA mode takes beside its packets");
  table.size("adapter.handle", p.handle, 65536.0, "most memory of one registered handle")
      .within(conduit::kPageBytes, Bytes{1} << 40U);
  table.count("task.send_fifo", p.send_fifo, 64.0, "packets of a task that its adapter has not read")
      .within(kLeastPackets, kMostPackets);
  table.count("task.window", p.window, 64.0, "packets of one task that another has not taken")
      .within(kLeastPackets, kMostPackets);
  table.count("task.rdma", p.rdma, 32.0, "transfers of a task in RDMA mode, under way").within(1, kMostPackets);
  table.invent({{"host.copy_bandwidth", 2e9},
                {"host.memory_bandwidth", 8e9},
                {"host.lock", 50e-9},
                {"host.system_call", 0.4e-6},
                {"link.bandwidth", 2e9},
                {"link.buffer", 2.0}});
  return table;
}

}  // namespace gasmeter::networks::lapi
