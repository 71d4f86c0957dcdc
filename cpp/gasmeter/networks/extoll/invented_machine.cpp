#include "gasmeter/networks/extoll/invented_machine.hpp"

#include <string>

namespace gasmeter::networks::extoll {

MachineNumbers invented_machine(unsigned nodes) {
  return {{"topology", "mesh2d:" + std::to_string(nodes) + "x1"},
          {"placement", "fill"},
          {"ranks_per_node", 16.0},
          {"host.instruction", 0.5e-9},
          {"host.call", 10e-9},
          {"host.header_build", 20e-9},
          {"host.dispatch", 20e-9},
          {"host.poll_miss", 5e-9},
          {"host.update", 100e-9},
          {"host.update_in_cache", 10e-9},
          {"host.cache", 1e6},
          {"host.copy_start", 10e-9},
          {"host.copy_bandwidth", 2e9},
          {"host.memory_bandwidth", 20e9},
          {"host.line_store", 50e-9},
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
          {"link.buffer", 16.0},
          {"link.header", 28.0},
          {"link.packet", 256.0},
          {"velo.payload", 56.0},
          {"velo.mailbox_slots", 64.0},
          {"velo.send_pipeline", 0.2e-6},
          {"velo.send_engine", 40e-9},
          {"velo.receive_engine", 0.2e-6},
          {"velo.read_pointer_update", 16.0},
          {"rma.descriptor", 24.0},
          {"rma.notification", 16.0},
          {"rma.requester", 0.2e-6},
          {"rma.completer", 0.2e-6},
          {"rma.responder", 0.2e-6},
          {"rma.host_read", 0.35e-6},
          {"rma.notification_slots", 64.0},
          {"mpi.eager", 4096.0},
          {"mpi.software", 0.7e-6},
          {"mpi.match_element", 12e-9}};
}

}  // namespace gasmeter::networks::extoll
