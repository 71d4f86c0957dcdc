// The host channel adapter of one node: the parts that its queue pairs share, and the path to and from the link.
#pragma once

#include "gasmeter/base/platform.hpp"
#include "gasmeter/networks/ibv/packet.hpp"
#include "gasmeter/networks/ibv/parameters.hpp"
#include "gasmeter/services/atomic_unit.hpp"
#include "gasmeter/sim/engine/engine.hpp"
#include "gasmeter/sim/fabric/unit.hpp"

namespace gasmeter::networks::ibv {

class IbvNetwork;
class QueuePair;

class alignas(kNoSharing) IbvHca {
 public:
  IbvHca(IbvNetwork& network, NodeId node);
  IbvHca(const IbvHca&) = delete;
  IbvHca& operator=(const IbvHca&) = delete;

  [[nodiscard]] NodeId node() const { return node_; }
  [[nodiscard]] sim::Engine& engine() const;
  [[nodiscard]] const IbvParameters& parameters() const;

  [[nodiscard]] IbPacket& take();
  // Return when `bytes` bytes, which host memory begins to send at `ready`, are in the adapter.
  [[nodiscard]] SimTime read_host(SimTime ready, Bytes bytes) { return from_host_.serve(ready, on_host_link(bytes)); }

  // Return when `bytes` bytes, which are in the adapter from `ready` on, have gone to host memory.
  [[nodiscard]] SimTime write_host(SimTime ready, Bytes bytes) { return to_host_.serve(ready, on_host_link(bytes)); }

  // --- atomics of all queue pairs. QueuePair::do_atomic() is called when an atomic is done
  using AtomicUnit = services::AtomicUnit<IbvHca, QueuePair>;
  [[nodiscard]] AtomicUnit& atomics() { return atomics_; }
  [[nodiscard]] SimTime read_word(SimTime from);
  [[nodiscard]] SimTime write_word(SimTime from);
  void atomic_done(QueuePair& pair, SimTime now);

  // --- the link's side
  void inject(IbPacket& packet, SimTime now);
  SimTime arrived(IbPacket& packet, SimTime now);

 private:
  [[nodiscard]] SimTime on_host_link(Bytes bytes) const;
  void deliver(IbPacket& packet, SimTime now);

  IbvNetwork& network_;
  NodeId node_;
  unsigned partition_;
  sim::FifoServer from_host_;
  sim::FifoServer to_host_;
  AtomicUnit atomics_;
  sim::Pipeline<IbPacket, IbvHca, &IbvHca::deliver> receiving_;
};

}  // namespace gasmeter::networks::ibv
