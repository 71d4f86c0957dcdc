#include "gasmeter/networks/ibv/invented_machine.hpp"

#include <string>

namespace gasmeter::networks::ibv {

MachineNumbers invented_machine(unsigned nodes) {
  return {{"topology", "crossbar:" + std::to_string(nodes)},
          {"placement", "fill"},
          {"ranks_per_node", 8.0},
          {"host.instruction", 0.5e-9},
          {"host.call", 5e-9},
          {"host.header_build", 10e-9},
          {"host.dispatch", 10e-9},
          {"host.poll_miss", 20e-9},
          {"host.update", 50e-9},
          {"host.update_in_cache", 10e-9},
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
          {"host.registration", 40e-6},
          {"host.registration_per_page", 0.2e-6},
          {"link.bandwidth", 4e9},
          {"link.latency", 0.1e-6},
          {"link.buffer", 16.0},
          {"link.header", 26.0},
          {"link.mtu", 2048.0},
          {"hca.send_pipeline", 0.3e-6},
          {"hca.receive_pipeline", 0.3e-6},
          {"hca.queue_pair", 0.2e-6},
          {"hca.receive_completion", 0.1e-6},
          {"hca.host_read", 0.3e-6},
          {"hca.descriptor", 64.0},
          {"hca.inline_limit", 400.0},
          {"hca.not_ready_timer", 80e-6},
          {"mpi.eager", 8192.0},
          {"mpi.software", 0.4e-6},
          {"mpi.match_element", 10e-9},
          {"mpi.deregistration", 30e-6}};
}

}  // namespace gasmeter::networks::ibv
