#include "gasmeter/networks/gm/invented_machine.hpp"

#include <string>

namespace gasmeter::networks::gm {

MachineNumbers invented_machine(unsigned nodes) {
  return {{"topology", "crossbar:" + std::to_string(nodes)},
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
          {"host.pio_start", 100e-9},
          {"host.pio_bandwidth", 500e6},
          {"host.uncached_read", 0.8e-6},
          {"host.lock", 100e-9},
          {"host.system_call", 0.5e-6},
          {"host.registration", 30e-6},
          {"host.registration_per_page", 1e-6},
          {"link.bandwidth", 250e6},
          {"link.latency", 0.15e-6},
          {"link.buffer", 2.0},
          {"link.header", 24.0},
          {"link.mtu", 4096.0},
          {"lanai.packet", 2e-6},
          {"lanai.directed", 1.5e-6},
          {"lanai.acknowledgement", 0.5e-6},
          {"lanai.dma_start", 0.5e-6},
          {"lanai.descriptor", 32.0},
          {"pci.bandwidth", 400e6},
          {"port.send_tokens", 32.0},
          {"port.receive_tokens", 32.0},
          {"port.hold_timer", 50e-6},
          {"host.gm_send", 0.1e-6},
          {"host.gm_receive", 0.4e-6}};
}

}  // namespace gasmeter::networks::gm
