// The card of one node: its firmware, which every message occupies, its transmitter and its receiver.
#pragma once

#include "gasmeter/base/platform.hpp"
#include "gasmeter/networks/portals/packet.hpp"
#include "gasmeter/networks/portals/parameters.hpp"
#include "gasmeter/networks/portals/transmitter.hpp"
#include "gasmeter/sim/engine/engine.hpp"
#include "gasmeter/sim/fabric/unit.hpp"

namespace gasmeter::networks::portals {

class Portals;
class PortalsNetwork;

class alignas(kNoSharing) SeaStar {
 public:
  SeaStar(PortalsNetwork& network, NodeId node);
  SeaStar(const SeaStar&) = delete;
  SeaStar& operator=(const SeaStar&) = delete;

  [[nodiscard]] NodeId node() const { return node_; }
  [[nodiscard]] PortalsNetwork& network() const { return network_; }
  [[nodiscard]] sim::Engine& engine() const;
  [[nodiscard]] const PortalsParameters& parameters() const;
  [[nodiscard]] Transmitter& transmitter() { return transmitter_; }
  // Return when the firmware has finished work that it gets now.
  [[nodiscard]] SimTime work(SimTime now, SimTime amount) { return firmware_.serve(now, amount); }
  // Time of bytes between the card and host memory.
  [[nodiscard]] SimTime on_nic(Bytes bytes) const;

  [[nodiscard]] HeaderPacket& take_header();
  void give(HeaderPacket& packet);
  [[nodiscard]] DataPacket& take_data();
  void give(DataPacket& packet);

  // --- the link's side
  SimTime arrived(sim::Packet& packet, SimTime now);

 private:
  static void on_received(sim::Action& self, SimTime now);
  static void on_known(sim::Action& self, SimTime now);
  static void on_dma(sim::Action& self, SimTime now);

  void here(HeaderPacket& header, SimTime now);
  [[nodiscard]] SimTime match(HeaderPacket& header);
  void take_put(HeaderPacket& header, SimTime now);
  void take_get(HeaderPacket& header, SimTime now);
  void take_reply(HeaderPacket& header, SimTime now);
  void take_ack(HeaderPacket& header, SimTime now);
  void write(HeaderPacket& header, std::byte* to, Bytes bytes, SimTime now);
  void write(DataPacket& packet, SimTime now);
  void written(DataPacket& packet, SimTime now);
  void complete(HeaderPacket& header, SimTime now);
  void acknowledge(const HeaderPacket& put, SimTime now);
  void drop(HeaderPacket& header);
  void discard(DataPacket& packet);
  [[nodiscard]] Portals& owner(const HeaderPacket& header) const;

  PortalsNetwork& network_;
  NodeId node_;
  unsigned partition_;
  sim::FifoServer firmware_;
  sim::FifoServer writing_;  // into host memory
  sim::FifoServer core_;     // a core without a rank
  Transmitter transmitter_;
  sim::Pipeline<HeaderPacket, SeaStar, &SeaStar::here> arriving_;
  sim::Pipeline<DataPacket, SeaStar, &SeaStar::written> depositing_;
};

}  // namespace gasmeter::networks::portals
