#include "gasmeter/networks/gm/parameters.hpp"

#include <string>

#include "gasmeter/networks/gm/packet.hpp"

namespace gasmeter::networks::gm {

using conduit::MachineValues;
using conduit::SharedPrice;

ParameterTable table(GmNumbers& n) {
  GmParameters& p = n.device;
  ParameterTable table("gm");
  card_rows(table, n.prices, kInstructions, p.link, p.header, "crossbar:N");
  table.size("link.mtu", p.mtu, 4096.0, "largest payload of one packet").within(kLeastMtu, kMostMtu);
  table.time("lanai.packet", p.packet, 2e-6, "the card's processor is busy with a packet of data, at either side");
  table.time("lanai.directed", p.directed, 1.5e-6, "likewise at the target, with one of a directed send");
  table.time("lanai.acknowledgement", p.acknowledgement, 0.5e-6,
             "likewise at either side, with an answer of the card's own");
  table.time("lanai.dma_start", p.dma_start, 0.5e-6, "until a DMA of the card moves its first byte");
  table.size("lanai.descriptor", p.descriptor, 32.0, "a send or a receive as software stores it into the card")
      .within(1, 1024);
  table.bandwidth("pci.bandwidth", p.pci_per_byte_fs, 400e6,
                  "DMA between card and host memory, both directions together");
  // A message of GmConduit takes up to two send tokens. Requests leave two tokens for replies, hence at least four.
  table.count("port.send_tokens", p.send_tokens, 32.0, "sends that a port may have under way")
      .within(kLeastSendTokens, kMostTokens);
  table.count("port.receive_tokens", p.receive_tokens, 32.0, "receives that a port may have provided")
      .within(kLeastReceiveTokens, kMostTokens);
  table.optional()
      .count("port.gm_version", n.gm_version, {}, "2: cards answer gets by themselves; not stated: 1, which has none")
      .only({1, 2}, "1 and 2 are allowed");
  table.then([&n] { n.device.gets = n.gm_version == 2; });
  table.time("port.hold_timer", p.hold_timer, 50e-6, "until a message goes again that found no receive");
  table.optional().software(
      "host.deregistration",
      [&n](MachineValues& machine, const std::string& key) {
        n.prices[SharedPrice::deregistration] = {
            machine.time(key), conduit::per_byte_of_page(machine.time("host.deregistration_per_page"))};
        n.pins = true;
      },
      {}, "giving registered memory back, whatever its length");
  table.optional().software("host.deregistration_per_page", nullptr, {},
                            "giving registered memory back, for each page");
  table.optional().size("host.dmaable_memory", p.dmaable, {}, "that a node may have registered; not stated: all of it");
  table.optional().software(
      "host.interrupt", [&p](MachineValues& machine, const std::string& key) { p.interrupt = machine.time(key); }, {},
      "of a core that computes by what comes (progress=interrupt)");
  table.software("host.gm_send", p.send, 0.1e-6, "what GM's library does for a send, beside the store into the card");
  table.software("host.gm_receive", p.receive, 0.4e-6,
                 "likewise for a message that has come, beside looking and providing");
  // Otherwise a target that provides no receive would stop time.
  table.require(p.hold_timer.ps > 0, "port.hold_timer of 0; more is needed");
  table.invent({{"host.registration", 30e-6},
                {"host.registration_per_page", 1e-6},
                {"link.bandwidth", 250e6},
                {"link.latency", 0.15e-6},
                {"link.buffer", 2.0}});
  return table;
}

}  // namespace gasmeter::networks::gm
