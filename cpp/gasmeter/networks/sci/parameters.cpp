#include "gasmeter/networks/sci/parameters.hpp"

#include "gasmeter/networks/sci/packet.hpp"

namespace gasmeter::networks::sci {

using conduit::PrivatePrice;
using conduit::SharedPrice;

ParameterTable table(SciNumbers& n) {
  SciParameters& p = n.device;
  ParameterTable table("sci");
  card_rows(table, n.prices, kInstructions, p.link, p.header, "oneway-ring:N");
  table.then([&n] {
    n.device.host_link_per_byte_fs = n.prices[SharedPrice::pio_store].per_byte_fs;
    n.device.instruction = {n.prices[PrivatePrice::instruction].per_byte_fs / 1000};
  });
  table.bytes("link.echo", p.echo, 8.0, "an echo, which goes on to where a packet has entered its ring")
      .within(1, 4096);
  table.time("link.turn", p.turn, 0.4e-6, "a packet's way through a card into the ring of another dimension");
  table.count("bridge.outstanding", p.outstanding, 16.0, "transactions of a card whose echoes are not back")
      .within(1, 65535);
  table.size("bridge.gather", p.gather, 128.0, "largest packet that a card makes of stores")
      .only({kLine, kLargestPacket}, "the card has packets of 64 and of 128 bytes");
  table.time("bridge.send", p.send, 0.5e-6, "from a burst of stores in the card to its first byte on the link");
  table.time("bridge.receive", p.receive, 0.5e-6, "from a packet's last byte in the card to bytes that the host sees");
  table.time("bridge.read", p.read, 5e-6, "reading the host's memory for a load of another node");
  table.time("dma.start", p.dma_start, 30e-6, "from posting a transfer to the engine's first read of memory");
  table.bandwidth("dma.bandwidth", p.dma_per_byte_fs, 250e6, "at which the engine reads memory");
  table.time("driver.map", p.map, 200e-6, "mapping a remote segment");
  table.size("driver.segment_limit", p.segment_limit, 256e6, "largest memory that the driver finds contiguous");
  table.size("mpi.inline", n.messages.inlined, 512.0, "two-sided messages of no more bytes travel with their envelope")
      .at_most("mpi.eager");
  table.size("mpi.channel", n.messages.channel, 16384.0,
             "the ring of envelopes that a rank keeps for each that sends to it");
  table.count("mpi.eager_buffers", n.messages.eager_buffers, 8.0,
              "buffers for messages of up to mpi.eager, for each sender");
  table.size("mpi.transporter", n.messages.transporter, 32768.0, "a buffer for a piece of a longer message");
  table.count("mpi.transporters", n.messages.transporters, 4.0, "of those, for each sender");
  matching_rows(table, n);
  table.then([&n] { n.messages.eager = n.matching.eager; });
  table.invent({{"host.call", 5e-9},
                {"host.header_build", 10e-9},
                {"host.dispatch", 10e-9},
                {"host.poll_miss", 20e-9},
                {"host.update", 50e-9},
                {"host.cache", 2e6},
                {"host.copy_start", 5e-9},
                {"host.line_store", 40e-9},
                {"host.line_transfer", 100e-9},
                {"host.uncached_read", 1e-6},
                {"host.lock", 20e-9},
                {"link.bandwidth", 500e6},
                {"link.header", 20.0}});
  return table;
}

}  // namespace gasmeter::networks::sci
