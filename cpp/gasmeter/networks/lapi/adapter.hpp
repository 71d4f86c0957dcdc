// The adapter of one node: between the FIFOs of its tasks and the link, with a unit for RDMA transfers.
#pragma once

#include "gasmeter/base/platform.hpp"
#include "gasmeter/networks/lapi/packet.hpp"
#include "gasmeter/networks/lapi/parameters.hpp"
#include "gasmeter/networks/lapi/rdma.hpp"
#include "gasmeter/sim/engine/engine.hpp"
#include "gasmeter/sim/fabric/unit.hpp"

namespace gasmeter::networks::lapi {

class LapiNetwork;
class LapiTask;

// Packets occupy the adapter and the bus to host memory one after the other, in the order of the requests, for all
// tasks and both directions. Packets of a pair of tasks stay in order.
class alignas(kNoSharing) Adapter {
 public:
  Adapter(LapiNetwork& network, NodeId node);
  Adapter(const Adapter&) = delete;
  Adapter& operator=(const Adapter&) = delete;

  [[nodiscard]] NodeId node() const { return node_; }
  [[nodiscard]] sim::Engine& engine() const;
  [[nodiscard]] const LapiParameters& parameters() const;

  // Make a packet between two tasks, without payload.
  [[nodiscard]] LapiPacket& make(PacketKind kind, Rank source, Rank target);
  void give(LapiPacket& packet);
  // Send a packet. Its bytes on the wire follow from its payload.
  void send(LapiPacket& packet, SimTime now);
  void rdma(const RdmaCommand& command, SimTime now) { rdma_.start(command, now); }

  // --- the link's side
  SimTime arrived(LapiPacket& packet);
  void departed(const LapiPacket& packet, SimTime end) { rdma_.departed(packet, end); }

 private:
  [[nodiscard]] SimTime pass(const LapiPacket& packet, SimTime now);
  void leave(LapiPacket& packet, SimTime now);
  void here(LapiPacket& packet, SimTime now);
  void in_memory(LapiPacket& packet, SimTime now);
  void write(LapiPacket& packet, LapiTask& target);

  LapiNetwork& network_;
  NodeId node_;
  unsigned partition_;
  sim::FifoServer unit_;
  sim::FifoServer bus_;
  RdmaUnit rdma_;
  sim::Pipeline<LapiPacket, Adapter, &Adapter::leave> outgoing_;
  sim::Pipeline<LapiPacket, Adapter, &Adapter::here> arriving_;
  sim::Pipeline<LapiPacket, Adapter, &Adapter::in_memory> incoming_;
};

}  // namespace gasmeter::networks::lapi
