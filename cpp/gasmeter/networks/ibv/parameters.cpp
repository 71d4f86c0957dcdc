#include "gasmeter/networks/ibv/parameters.hpp"

#include "gasmeter/networks/ibv/packet.hpp"

namespace gasmeter::networks::ibv {

using conduit::PrivatePrice;
using conduit::SharedPrice;

ParameterTable table(IbvNumbers& n) {
  IbvParameters& p = n.device;
  ParameterTable table("ibv");
  card_rows(table, n.prices, kInstructions, p.link, p.header, "crossbar:N");
  table.then([&n] {
    n.device.host_link_per_byte_fs = n.prices[SharedPrice::pio_store].per_byte_fs;
    n.device.instruction = {n.prices[PrivatePrice::instruction].per_byte_fs / 1000};
  });
  table.size("link.mtu", p.mtu, 2048.0, "largest payload of one packet").within(kLeastMtu, kMostMtu);
  table.time("hca.send_pipeline", p.send_pipeline, 0.3e-6, "from the doorbell to the packet's first byte on the link");
  table.time("hca.receive_pipeline", p.receive_pipeline, 0.3e-6, "from the link to bytes that the host sees");
  table.time("hca.queue_pair", p.queue_pair, 0.2e-6, "a queue pair is busy with one work request");
  table.time("hca.receive_completion", p.receive_completion, 0.1e-6,
             "from a send's bytes at its target to the completion of its receive");
  table.time("hca.host_read", p.host_read, 0.3e-6, "a read of host memory by the adapter");
  table.size("hca.descriptor", p.descriptor, 64.0, "a work request as the host writes it").within(1, 1024);
  table.size("hca.inline_limit", p.inline_limit, 400.0, "payload that a work request may carry itself")
      .within(0, p.mtu)  // the bytes fit one packet
      .at_most("link.mtu");
  table.time("hca.not_ready_timer", p.not_ready_timer, 80e-6, "until a send goes again that found no receive");
  matching_rows(table, n);
  // The price of every deregistration. Two-sided messages gave the key its name.
  table.software("mpi.deregistration", n.prices[SharedPrice::deregistration].fixed, 30e-6,
                 "forgetting the memory that a long two-sided message was sent from");
  // Otherwise a target that is never ready would stop time.
  table.require(p.not_ready_timer.ps > 0, "hca.not_ready_timer of 0; more is needed");
  table.invent({{"host.call", 5e-9},
                {"host.header_build", 10e-9},
                {"host.dispatch", 10e-9},
                {"host.poll_miss", 20e-9},
                {"host.update", 50e-9},
                {"host.cache", 2e6},
                {"host.copy_start", 5e-9},
                {"host.copy_bandwidth", 5e9},
                {"host.memory_bandwidth", 25e9},
                {"host.line_store", 40e-9},
                {"host.line_transfer", 100e-9},
                {"host.pio_start", 150e-9},
                {"host.pio_bandwidth", 3.2e9},
                {"host.uncached_read", 0.3e-6},
                {"host.lock", 20e-9},
                {"host.system_call", 0.1e-6},
                {"link.bandwidth", 4e9},
                {"link.header", 26.0}});
  return table;
}

}  // namespace gasmeter::networks::ibv
