#include "gasmeter/networks/sci/invented_machine.hpp"

#include <string>

namespace gasmeter::networks::sci {

MachineNumbers invented_machine(unsigned nodes) {
  return {{"topology", "oneway-ring:" + std::to_string(nodes)},
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
          {"host.copy_bandwidth", 1e9},
          {"host.memory_bandwidth", 4e9},
          {"host.line_store", 40e-9},
          {"host.line_transfer", 100e-9},
          {"host.pio_start", 100e-9},
          {"host.pio_bandwidth", 500e6},
          {"host.uncached_read", 1e-6},
          {"host.lock", 20e-9},
          {"host.system_call", 0.5e-6},
          {"host.registration", 40e-6},
          {"host.registration_per_page", 0.2e-6},
          {"link.bandwidth", 500e6},
          {"link.latency", 0.1e-6},
          {"link.buffer", 16.0},
          {"link.header", 20.0},
          {"link.echo", 8.0},
          {"link.turn", 0.4e-6},
          {"bridge.outstanding", 16.0},
          {"bridge.gather", 128.0},
          {"bridge.send", 0.5e-6},
          {"bridge.receive", 0.5e-6},
          {"bridge.read", 5e-6},
          {"dma.start", 30e-6},
          {"dma.bandwidth", 250e6},
          {"driver.map", 200e-6},
          {"driver.segment_limit", 256e6},
          {"mpi.inline", 512.0},
          {"mpi.eager", 8192.0},
          {"mpi.software", 0.4e-6},
          {"mpi.match_element", 10e-9},
          {"mpi.channel", 16384.0},
          {"mpi.eager_buffers", 8.0},
          {"mpi.transporter", 32768.0},
          {"mpi.transporters", 4.0}};
}

}  // namespace gasmeter::networks::sci
