#include "gasmeter/networks/portals/parameters.hpp"

#include <string>

#include "gasmeter/networks/portals/packet.hpp"

namespace gasmeter::networks::portals {

using conduit::MachineValues;
using conduit::PrivatePrice;
using conduit::SharedPrice;

namespace {

SimTime half(SimTime of) {
  return {of.ps / 2};
}

}  // namespace

ParameterTable table(PortalsNumbers& n) {
  PortalsParameters& p = n.device;
  ParameterTable table("portals");
  conduit::HostPrices& prices = n.prices;
  // Commands reach the card by a system call. Software makes no stores to the card and no reads of it.
  core_rows(table, prices, "ring:N");
  kernel_rows(table, prices);
  instruction_rows(table, prices, kInstructions);
  optional_rows(table, prices);
  table.software("host.interrupt", p.interrupt, 2e-6, "of a core by a message that arrives");
  // An element of the library's own list costs as much as an entry of Portals' list.
  table.often("host.match_step", p.match_step, 50e-9, "looking at one entry of a match list");
  table.then([&n] { n.prices[PrivatePrice::match].per_byte_fs = n.device.match_step.ps * 1000; });
  table.software("host.portals_call", p.call, 0.8e-6, "PtlPut or PtlGet: check and command to the card");
  table.software("host.eq_empty", p.eq_empty, 50e-9, "looking into an event queue that holds none");
  table.software("host.eq_event", p.eq_event, 0.2e-6, "taking an event from its queue");
  // Making a memory descriptor is a registration, and ending it a deregistration: each costs half of what both take. A
  // machine that need not pin memory states neither number.
  table.optional().software(
      "host.md_create",
      [&prices](MachineValues& machine, const std::string& key) {
        prices[SharedPrice::registration].fixed = half(machine.time_of_many(key));
      },
      1e-6, "making a memory descriptor and ending it, whatever its length");
  table.optional().software(
      "host.md_page",
      [&prices](MachineValues& machine, const std::string& key) {
        prices[SharedPrice::registration].per_byte_fs = conduit::per_byte_of_page(half(machine.time_of_many(key)));
      },
      0.1e-6, "likewise, for each page");
  table.then([&prices] { prices[SharedPrice::deregistration] = prices[SharedPrice::registration]; });
  link_rows(table, p.link);
  table.bandwidth("nic.bandwidth", p.nic_per_byte_fs, 2e9, "between card and host memory, each way");
  table.bytes("nic.packet", p.packet, 64.0, "payload of a packet, and what it takes of a link").within(8, kMostPacket);
  table.bytes("nic.header", p.header, 64.0, "the packet with a message's header, on the wire").within(1, 4096);
  table.bytes("nic.inline", p.in_header, 16.0, "payload that rides in it").within(1, kMostInHeader);
  table.time("nic.send", p.send, 0.5e-6, "the firmware is busy with a message that leaves");
  table.time("nic.receive", p.receive, 0.8e-6, "likewise, with one that arrives");
  table.time("nic.ack", p.ack, 0.4e-6, "likewise, with an acknowledgement that it makes");
  table.time("nic.dma_start", p.dma_start, 0.3e-6, "until a DMA moves its first byte");
  table.count("nic.dma_slots", p.dma_slots, 16.0, "messages of one card that may be leaving; more wait")
      .within(1, 65536);
  table.size("mpi.eager", p.mpi_eager, 4096.0, "two-sided messages of more bytes are fetched by their receiver");
  table.software("mpi.software", p.mpi_software, 0.3e-6,
                 "a two-sided message at one side: request, match entry, handling of events");
  table.then([&n] { n.prices[PrivatePrice::two_sided].fixed = n.device.mpi_software; });
  table.invent({{"host.system_call", 0.2e-6}, {"link.bandwidth", 3e9}, {"link.buffer", 2.0}});
  return table;
}

}  // namespace gasmeter::networks::portals
