#include "gasmeter/networks/aries/invented_machine.hpp"

#include <string>

namespace gasmeter::networks::aries {

MachineNumbers invented_machine(unsigned nodes) {
  return {{"topology", "crossbar:" + std::to_string(nodes)},
          {"placement", "fill"},
          {"ranks_per_node", 8.0},
          {"host.instruction", 0.5e-9},
          {"host.call", 10e-9},
          {"host.header_build", 20e-9},
          {"host.dispatch", 20e-9},
          {"host.poll_miss", 5e-9},
          {"host.update", 100e-9},
          {"host.update_in_cache", 10e-9},
          {"host.cache", 256e3},
          {"host.copy_start", 10e-9},
          {"host.copy_bandwidth", 4e9},
          {"host.memory_bandwidth", 40e9},
          {"host.line_store", 50e-9},
          {"host.line_transfer", 150e-9},
          {"host.lock", 50e-9},
          {"host.system_call", 0.3e-6},
          {"host.post", 0.2e-6},
          {"host.fma_bandwidth", 4e9},
          {"host.fma_sharing", 0.5e-6},
          {"host.cq_event", 0.1e-6},
          {"host.cq_empty", 50e-9},
          {"host.registration", 2e-6},
          {"host.registration_per_page", 0.2e-6},
          {"host.deregistration", 1e-6},
          {"link.bandwidth", 5e9},
          {"link.latency", 0.1e-6},
          {"link.optical_bandwidth", 4e9},
          {"link.optical_latency", 0.2e-6},
          {"link.terminal_bandwidth", 10e9},
          {"link.terminal_latency", 0.05e-6},
          {"link.buffer", 8.0},
          {"link.packet", 64.0},
          {"link.header", 24.0},
          {"nic.bandwidth", 10e9},
          {"nic.request", 8e-9},
          {"nic.passage", 0.15e-6},
          {"nic.host_read", 0.5e-6},
          {"nic.host_write", 0.25e-6},
          {"nic.fma_windows", 64.0},
          {"amo.operation", 15e-9},
          {"amo.words", 4.0},
          {"bte.start", 1e-6},
          {"bte.engines", 2.0},
          {"mpi.eager", 8192.0},
          {"mpi.software", 0.4e-6},
          {"mpi.match_element", 10e-9}};
}

}  // namespace gasmeter::networks::aries
