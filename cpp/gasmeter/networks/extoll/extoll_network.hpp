// An EXTOLL installation: a card in every node, joined by the links of a topology.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "gasmeter/networks/extoll/extoll_nic.hpp"
#include "gasmeter/networks/extoll/extoll_port.hpp"
#include "gasmeter/networks/extoll/message_store.hpp"
#include "gasmeter/networks/extoll/packet.hpp"
#include "gasmeter/networks/extoll/parameters.hpp"
#include "gasmeter/networks/extoll/rma_streams.hpp"
#include "gasmeter/sim/engine/engine.hpp"
#include "gasmeter/sim/fabric/fabric.hpp"
#include "gasmeter/sim/fabric/packet_pool.hpp"

namespace gasmeter::networks::extoll {

// An installation belongs to one engine, whose nodes are the topology's vertices. The engine outlives it. The
// destructor cancels the engine's bodies. Any number of engine threads may use it: the state of a node is touched on
// that node alone.
class ExtollNetwork final : private sim::FabricSink {
 public:
  // Throws UsageError for parameters that the device cannot have, and for ranks on nodes without a card.
  ExtollNetwork(sim::Engine& engine, sim::Topology topology, const ExtollParameters& parameters = {});
  ExtollNetwork(const ExtollNetwork&) = delete;
  ExtollNetwork& operator=(const ExtollNetwork&) = delete;
  ~ExtollNetwork();

  [[nodiscard]] ExtollPort& port(Rank rank) { return *ports_[index(rank)]; }
  [[nodiscard]] sim::Engine& engine() const { return engine_; }
  [[nodiscard]] const ExtollParameters& parameters() const { return parameters_; }
  [[nodiscard]] sim::Fabric& fabric() { return fabric_; }
  [[nodiscard]] const sim::Fabric& fabric() const { return fabric_; }
  // Tell whether any rank has given the RMA unit a command so far.
  [[nodiscard]] bool has_commanded_rma() const;

  // ---- for cards and ports
  // Return the network of a packet whose `fabric` is set.
  [[nodiscard]] static ExtollNetwork& of(const sim::Packet& packet) {
    return static_cast<ExtollNetwork&>(packet.fabric->sink());
  }
  [[nodiscard]] ExtollNic& nic(NodeId node) { return *nics_[index(node)]; }
  // The node of a rank, and the rank's number among the ranks of that node.
  [[nodiscard]] NodeId node_of(Rank rank) const { return places_[index(rank)].node; }
  [[nodiscard]] std::uint16_t process_of(Rank rank) const { return places_[index(rank)].process; }
  [[nodiscard]] RmaStreams& streams() { return streams_; }
  [[nodiscard]] const RmaStreams& streams() const { return streams_; }
  [[nodiscard]] sim::PacketPool<VeloPacket>& velo_packets() { return velo_packets_; }
  [[nodiscard]] sim::PacketPool<RmaPacket>& rma_packets() { return rma_packets_; }

  // ---- for conduits: host memory
  [[nodiscard]] MessageStore& messages(NodeId node) { return messages_[engine_.partition_of(node)]; }
  [[nodiscard]] NearBoxes& near_boxes() { return near_boxes_; }

 private:
  struct Place {
    NodeId node{};
    std::uint16_t process = 0;
  };

  SimTime arrived(sim::Packet& packet, SimTime now) override;
  void departed(sim::Packet& packet, SimTime end) override;

  sim::Engine& engine_;
  ExtollParameters parameters_;
  sim::PacketPool<VeloPacket> velo_packets_;
  sim::PacketPool<RmaPacket> rma_packets_;
  sim::Fabric fabric_;
  RmaStreams streams_;
  std::vector<Place> places_;  // by rank: two words, where the engine has whole cache lines
  std::vector<std::unique_ptr<ExtollNic>> nics_;
  std::vector<std::unique_ptr<ExtollPort>> ports_;
  std::vector<MessageStore> messages_;
  NearBoxes near_boxes_;
};

}  // namespace gasmeter::networks::extoll
