#include "gasmeter/networks/aries/parameters.hpp"

#include <string>

#include "gasmeter/networks/aries/packet.hpp"

namespace gasmeter::networks::aries {

using conduit::SharedPrice;

sim::FabricParameters AriesParameters::links_of(const sim::Topology& topology) const {
  sim::FabricParameters result(link);
  for (const std::string& name : topology.link_classes()) {
    if (name == "terminal") result.classes.emplace(name, terminal);
    if (name == "optical" || name == "global") result.classes.emplace(name, optical);
  }
  return result;
}

ParameterTable table(AriesNumbers& n) {
  AriesParameters& p = n.device;
  ParameterTable table("aries");
  conduit::HostPrices& prices = n.prices;
  conduit::Price& store = prices[SharedPrice::pio_store];
  conduit::Price& registration = prices[SharedPrice::registration];
  core_rows(table, prices, "crossbar:N");
  kernel_rows(table, prices);
  instruction_rows(table, prices, kInstructions);
  optional_rows(table, prices);
  table.software("host.post", store.fixed, 0.2e-6, "a post: descriptor and call, but for the payload of an FMA put");
  table.bandwidth("host.fma_bandwidth", store.per_byte_fs, 4e9, "a core stores into its window");
  table.then([&n] { n.device.pio_per_byte_fs = n.prices[SharedPrice::pio_store].per_byte_fs; });
  table.software("host.fma_sharing", p.sharing, 0.5e-6, "a post by a window that ranks share, beside host.post")
      .unit("sharing");
  table.software("host.cq_event", p.cq_event, 0.1e-6, "taking an event from a completion queue");
  table.software("host.cq_empty", p.cq_empty, 50e-9, "looking into a completion queue that has none");
  table.software("host.registration", registration.fixed, 2e-6,
                 "registering memory with the card, whatever its length");
  table.page("host.registration_per_page", registration.per_byte_fs, 0.2e-6,
             "registering memory with the card, for each page");
  table.software("host.deregistration", prices[SharedPrice::deregistration].fixed, 1e-6,
                 "ending that, whatever its length");
  table.bandwidth("link.bandwidth", p.link.per_byte_fs, 5e9, "a link between routers, in one direction");
  table.time("link.latency", p.link.latency, 0.1e-6, "one hop: router and wire");
  table.bandwidth("link.optical_bandwidth", p.optical.per_byte_fs, 4e9, "likewise, between groups of routers");
  table.time("link.optical_latency", p.optical.latency, 0.2e-6, "one hop between groups of routers");
  table.bandwidth("link.terminal_bandwidth", p.terminal.per_byte_fs, 10e9,
                  "between a card and its router, in one direction");
  table.time("link.terminal_latency", p.terminal.latency, 0.05e-6, "between a card and its router");
  table.count("link.buffer", p.link.buffer, 8.0, "packets held by one input and virtual channel");
  table.then([&p] { p.optical.buffer = p.terminal.buffer = p.link.buffer; });
  table.bytes("link.packet", p.packet, 64.0, "payload of a packet").within(16, kMostPacket);
  table.bytes("link.header", p.header, 24.0, "added to each packet on the wire: header, checksum").within(1, 256);
  table.bandwidth("nic.bandwidth", p.nic_per_byte_fs, 10e9, "between card and host memory, each way");
  table.time("nic.request", p.request, 8e-9, "the card is busy with a put, get or atomic that its node asks for");
  table.time("nic.passage", p.pass, 0.15e-6, "a packet through the cards at both of its ends");
  table.time("nic.host_read", p.host_read, 0.5e-6, "from asking host memory to its first byte in the card");
  table.time("nic.host_write", p.host_write, 0.25e-6, "from the card to host memory");
  table.count("nic.fma_windows", p.fma_windows, 64.0, "ranks of a node that may have a window each").within(1, 65536);
  table.time("amo.operation", p.amo, 15e-9, "an atomic operation on a word that the card has at hand");
  table.count("amo.words", p.amo_words, 4.0, "that the card has at hand").within(1, 65536);
  table.time("bte.start", p.bte_start, 1e-6, "from the turn of a descriptor to the first byte of what it names");
  table.count("bte.engines", p.bte_engines, 2.0, "of a card, each with one descriptor at a time")
      .within(1, kMostEngines);
  matching_rows(table, n);
  table.require(p.grain >= kMostPacket && p.grain <= kMostGrain, "grain of " + std::to_string(p.grain) + "; " +
                                                                     std::to_string(kMostPacket) + ".." +
                                                                     std::to_string(kMostGrain) + " are allowed");
  table.invent({{"host.poll_miss", 5e-9},
                {"host.copy_bandwidth", 4e9},
                {"host.memory_bandwidth", 40e9},
                {"host.lock", 50e-9},
                {"host.system_call", 0.3e-6}});
  return table;
}

}  // namespace gasmeter::networks::aries
