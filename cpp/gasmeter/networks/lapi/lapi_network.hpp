// An installation of HPS adapters: an adapter in every node, joined by the links and switches of a topology.
#pragma once

#include <deque>

#include "gasmeter/networks/lapi/adapter.hpp"
#include "gasmeter/networks/lapi/lapi_task.hpp"
#include "gasmeter/networks/lapi/packet.hpp"
#include "gasmeter/networks/lapi/parameters.hpp"
#include "gasmeter/sim/engine/engine.hpp"
#include "gasmeter/sim/fabric/fabric.hpp"
#include "gasmeter/sim/fabric/packet_pool.hpp"

namespace gasmeter::networks::lapi {

// When a computing task handles arrivals.
enum class Progress : std::uint8_t {
  poll,       // when it next calls LAPI
  interrupt,  // at once: the arrival interrupts it
};

// An installation belongs to one engine, whose nodes are the topology's vertices. The engine outlives it. The
// destructor cancels the engine's bodies. Any number of engine threads may use it: the state of a node is touched on
// that node alone.
class LapiNetwork final : private sim::FabricSink {
 public:
  // Throws UsageError for parameters that the device cannot have, and for ranks on nodes without an adapter.
  LapiNetwork(sim::Engine& engine, sim::Topology topology, const LapiParameters& parameters = {},
              Progress progress = Progress::poll);
  LapiNetwork(const LapiNetwork&) = delete;
  LapiNetwork& operator=(const LapiNetwork&) = delete;
  ~LapiNetwork() { engine_.cancel(); }

  [[nodiscard]] LapiTask& task(Rank rank) { return tasks_[index(rank)]; }
  [[nodiscard]] sim::Engine& engine() const { return engine_; }
  [[nodiscard]] const LapiParameters& parameters() const { return parameters_; }
  [[nodiscard]] Progress progress() const { return progress_; }
  [[nodiscard]] sim::Fabric& fabric() { return fabric_; }

  // ---- for adapters and tasks
  [[nodiscard]] Adapter& adapter(NodeId node) { return adapters_[index(node)]; }
  [[nodiscard]] sim::PacketPool<LapiPacket>& packets() { return packets_; }

 private:
  SimTime arrived(sim::Packet& packet, SimTime now) override;
  void departed(sim::Packet& packet, SimTime end) override;

  sim::Engine& engine_;
  LapiParameters parameters_;
  Progress progress_;
  sim::PacketPool<LapiPacket> packets_;
  sim::Fabric fabric_;
  std::deque<Adapter> adapters_;
  std::deque<LapiTask> tasks_;
};

}  // namespace gasmeter::networks::lapi
