#include "gasmeter/networks/ethernet/invented_machine.hpp"

#include <string>

namespace gasmeter::networks::ethernet {

MachineNumbers invented_machine(unsigned nodes) {
  return {{"topology", "crossbar:" + std::to_string(nodes)},
          {"placement", "one-per-node"},
          {"ranks_per_node", 4.0},
          {"host.instruction", 0.5e-9},
          {"host.call", 5e-9},
          {"host.header_build", 20e-9},
          {"host.dispatch", 20e-9},
          {"host.poll_miss", 0.5e-6},
          {"host.update", 50e-9},
          {"host.update_in_cache", 10e-9},
          {"host.cache", 1e6},
          {"host.copy_start", 10e-9},
          {"host.copy_bandwidth", 5e9},
          {"host.memory_bandwidth", 30e9},
          {"host.line_store", 40e-9},
          {"host.line_transfer", 90e-9},
          {"host.caches_off", 50.0},
          {"link.bandwidth", 125e6},
          {"link.latency", 1e-6},
          {"link.buffer", 64.0},
          {"link.frame", 38.0},
          {"link.least_frame", 84.0},
          {"link.mtu", 1500.0},
          {"nic.pipeline", 2e-6},
          {"nic.moderation", 1e-9},
          {"nic.ring", 256.0},
          {"kernel.send", 2e-6},
          {"kernel.fragment", 1e-6},
          {"kernel.interrupt", 2e-6},
          {"kernel.input", 1e-6},
          {"kernel.wake_up", 3e-6},
          {"kernel.receive", 1e-6},
          {"kernel.send_buffer", 262144.0},
          {"kernel.receive_buffer", 4194304.0}};
}

}  // namespace gasmeter::networks::ethernet
