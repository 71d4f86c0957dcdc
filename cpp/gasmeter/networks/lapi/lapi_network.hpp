// An installation of HPS adapters: one in every node, joined by the links and switches of a topology.
#pragma once

#include <deque>

#include "gasmeter/networks/lapi/adapter.hpp"
#include "gasmeter/networks/lapi/lapi_task.hpp"
#include "gasmeter/networks/lapi/packet.hpp"
#include "gasmeter/networks/lapi/parameters.hpp"
#include "gasmeter/sim/engine.hpp"
#include "gasmeter/sim/fabric.hpp"
#include "gasmeter/sim/packet_pool.hpp"

namespace gasmeter::networks::lapi {

// Who sees to what has come while a task computes.
enum class Progress : std::uint8_t {
  poll,       // nobody, until it calls LAPI
  interrupt,  // the arrival interrupts it
};

// Made for one engine, whose nodes are the topology's vertices; the engine outlives it. Its end cancels the engine's
// bodies. Safe with any number of the engine's threads: what a node has is touched on that node alone.
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
