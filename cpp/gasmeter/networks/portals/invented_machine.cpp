#include "gasmeter/networks/portals/invented_machine.hpp"

#include <string>

namespace gasmeter::networks::portals {

MachineNumbers invented_machine(unsigned nodes) {
  return {{"topology", "ring:" + std::to_string(nodes)},
          {"placement", "fill"},
          {"ranks_per_node", 8.0},
          {"host.instruction", 0.5e-9},
          {"host.call", 10e-9},
          {"host.header_build", 20e-9},
          {"host.dispatch", 20e-9},
          {"host.poll_miss", 10e-9},
          {"host.update", 100e-9},
          {"host.update_in_cache", 10e-9},
          {"host.cache", 256e3},
          {"host.copy_start", 10e-9},
          {"host.copy_bandwidth", 1e9},
          {"host.memory_bandwidth", 4e9},
          {"host.line_store", 50e-9},
          {"host.line_transfer", 150e-9},
          {"host.lock", 100e-9},
          {"host.system_call", 0.2e-6},
          {"host.interrupt", 2e-6},
          {"host.match_step", 50e-9},
          {"host.portals_call", 0.8e-6},
          {"host.eq_empty", 50e-9},
          {"host.eq_event", 0.2e-6},
          {"host.md_create", 1e-6},
          {"host.md_page", 0.1e-6},
          {"link.bandwidth", 3e9},
          {"link.latency", 0.1e-6},
          {"link.buffer", 2.0},
          {"nic.bandwidth", 2e9},
          {"nic.packet", 64.0},
          {"nic.header", 64.0},
          {"nic.inline", 16.0},
          {"nic.send", 0.5e-6},
          {"nic.receive", 0.8e-6},
          {"nic.ack", 0.4e-6},
          {"nic.dma_start", 0.3e-6},
          {"nic.dma_slots", 16.0},
          {"mpi.eager", 4096.0},
          {"mpi.software", 0.3e-6}};
}

}  // namespace gasmeter::networks::portals
