#include "gasmeter/networks/extoll/parameters.hpp"

#include "gasmeter/networks/extoll/packet.hpp"

namespace gasmeter::networks::extoll {

using conduit::SharedPrice;

ParameterTable table(ExtollNumbers& n) {
  ExtollParameters& p = n.device;
  ParameterTable table("extoll");
  card_rows(table, n.prices, kInstructions, p.link, p.header, "mesh2d:Nx1");
  table.then([&n] { n.device.host_link_per_byte_fs = n.prices[SharedPrice::pio_store].per_byte_fs; });
  table.size("link.packet", p.packet, 256.0, "largest payload of one packet").within(1, kMaxRmaPayload).unit("rma");
  table.size("velo.payload", p.velo_payload, 56.0, "payload of one VELO packet").within(1, kVeloPayload);
  table.count("velo.mailbox_slots", p.mailbox_slots, 64.0, "slots of a mailbox").within(1, 1U << 20U);
  table.time("velo.send_pipeline", p.velo_send_pipeline, 0.2e-6,
             "from the store burst to the packet's first byte on the link");
  table.time("velo.send_engine", p.velo_send_engine, 40e-9,
             "the send unit is busy with one packet, beside its bytes over a path as wide as a link");
  table.time("velo.receive_engine", p.velo_receive_engine, 0.2e-6, "from the link to a status word that the host sees");
  // Otherwise the card would never hear that a full mailbox has free slots.
  table
      .count("velo.read_pointer_update", p.read_pointer_update, 16.0,
             "slots that are read before the read pointer is written back")
      .within(1, p.mailbox_slots)
      .at_most("velo.mailbox_slots");
  table.size("rma.descriptor", p.descriptor, 24.0, "a command as the host writes it").within(1, kMaxRmaPayload);
  table.size("rma.notification", p.notification, 16.0, "a notification in host memory").within(1, 64);
  table.time("rma.requester", p.requester, 0.2e-6, "the requester is busy with one packet");
  table.time("rma.completer", p.completer, 0.2e-6, "the completer is busy with one packet");
  table.time("rma.responder", p.responder, 0.2e-6, "the responder is busy with one packet");
  table.time("rma.host_read", p.host_read, 0.35e-6, "a read of host memory by the card");
  table.count("rma.notification_slots", p.notification_slots, 64.0, "slots of a notification queue")
      .within(1, 1U << 20U);
  matching_rows(table, n);
  table.invent({{"ranks_per_node", 16.0},
                {"host.poll_miss", 5e-9},
                {"host.cache", 1e6},
                {"host.copy_bandwidth", 2e9},
                {"host.memory_bandwidth", 20e9},
                {"host.line_transfer", 100e-9},
                {"host.pio_start", 80e-9},
                {"host.pio_bandwidth", 1.6e9},
                {"host.uncached_read", 0.4e-6},
                {"host.lock", 30e-9},
                {"host.system_call", 0.15e-6},
                {"host.registration", 3e-6},
                {"host.registration_per_page", 0.3e-6},
                {"link.bandwidth", 625e6},
                {"link.latency", 0.3e-6},
                {"link.header", 28.0},
                {"mpi.eager", 4096.0},
                {"mpi.software", 0.7e-6},
                {"mpi.match_element", 12e-9}});
  return table;
}

}  // namespace gasmeter::networks::extoll
