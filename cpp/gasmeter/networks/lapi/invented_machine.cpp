#include "gasmeter/networks/lapi/invented_machine.hpp"

#include <string>

namespace gasmeter::networks::lapi {

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
          {"host.copy_bandwidth", 2e9},
          {"host.memory_bandwidth", 8e9},
          {"host.line_store", 50e-9},
          {"host.line_transfer", 150e-9},
          {"host.lock", 50e-9},
          {"host.system_call", 0.4e-6},
          {"host.registration", 40e-6},
          {"host.registration_per_page", 0.5e-6},
          {"host.deregistration", 20e-6},
          {"host.deregistration_per_page", 0.25e-6},
          {"host.lapi_call", 0.8e-6},
          {"host.lapi_packet", 0.1e-6},
          {"host.header_handler", 0.7e-6},
          {"host.completion_handler", 40e-6},
          {"host.interrupt", 20e-6},
          {"link.bandwidth", 2e9},
          {"link.latency", 0.1e-6},
          {"link.buffer", 2.0},
          {"link.header", 24.0},
          {"link.mtu", 2048.0},
          {"adapter.packet", 0.2e-6},
          {"adapter.latency", 0.5e-6},
          {"adapter.bandwidth", 3e9},
          {"adapter.rdma_latency", 5e-6},
          {"adapter.handle", 65536.0},
          {"task.send_fifo", 64.0},
          {"task.window", 64.0},
          {"task.rdma", 32.0}};
}

}  // namespace gasmeter::networks::lapi
