// The card of one node: its processor, which every packet occupies, its DMA engine, and the path to and from the link.
#pragma once

#include <deque>
#include <vector>

#include "gasmeter/base/platform.hpp"
#include "gasmeter/networks/gm/connection.hpp"
#include "gasmeter/networks/gm/packet.hpp"
#include "gasmeter/networks/gm/parameters.hpp"
#include "gasmeter/sim/engine/engine.hpp"
#include "gasmeter/sim/fabric/unit.hpp"

namespace gasmeter::networks::gm {

class GmNetwork;

// A card's processor and its DMA engine, each with a queue in order of time. A packet that needs both uses the
// processor first. The processor then serves the next request while the DMA engine moves the packet's bytes.
class alignas(kNoSharing) Lanai {
 public:
  Lanai(GmNetwork& network, NodeId node);
  Lanai(const Lanai&) = delete;
  Lanai& operator=(const Lanai&) = delete;

  [[nodiscard]] NodeId node() const { return node_; }
  [[nodiscard]] sim::Engine& engine() const;
  [[nodiscard]] const GmParameters& parameters() const;

  [[nodiscard]] GmPacket& take();
  void give(GmPacket& packet);
  // Lend an idle connection, the last one that was returned: the caches hold it.
  [[nodiscard]] Connection& lend_connection();
  void take_back(Connection& connection) { idle_.push_back(&connection); }

  // Return the time at which the firmware will have finished work that it gets now.
  [[nodiscard]] SimTime work(SimTime now, SimTime amount) { return processor_.serve(now, amount); }
  // Return the time at which `bytes` bytes will have crossed PCI. The firmware asks for them at `ready`.
  [[nodiscard]] SimTime dma(SimTime ready, Bytes bytes);

  void send(GmPacket& packet, SimTime due) { outgoing_.push(packet, due); }
  void answer(GmPacket& packet, SimTime due) { answers_.push(packet, due); }
  void deliver(GmPacket& packet, SimTime due) { incoming_.push(packet, due); }

  // --- the link's side
  SimTime arrived(GmPacket& packet);

 private:
  void leave(GmPacket& packet, SimTime now);
  void here(GmPacket& packet, SimTime now);
  void in_memory(GmPacket& packet, SimTime now);
  [[nodiscard]] Connection& connection_of(const GmPacket& packet);

  GmNetwork& network_;
  NodeId node_;
  unsigned partition_;
  sim::FifoServer processor_;
  sim::FifoServer dma_;
  std::deque<Connection> connections_;  // as many as were needed at a time
  std::vector<Connection*> idle_;
  sim::Pipeline<GmPacket, Lanai, &Lanai::leave> outgoing_;
  sim::Pipeline<GmPacket, Lanai, &Lanai::leave> answers_;
  sim::Pipeline<GmPacket, Lanai, &Lanai::here> arriving_;
  sim::Pipeline<GmPacket, Lanai, &Lanai::in_memory> incoming_;
};

}  // namespace gasmeter::networks::gm
