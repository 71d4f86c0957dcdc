// An SCI installation: a card in every node, joined by one-way rings.
#pragma once

#include <deque>
#include <unordered_map>
#include <vector>

#include "gasmeter/networks/sci/packet.hpp"
#include "gasmeter/networks/sci/parameters.hpp"
#include "gasmeter/networks/sci/sci_card.hpp"
#include "gasmeter/networks/sci/segment.hpp"
#include "gasmeter/networks/sci/sisci.hpp"
#include "gasmeter/sim/engine/engine.hpp"
#include "gasmeter/sim/fabric/fabric.hpp"
#include "gasmeter/sim/fabric/packet_pool.hpp"

namespace gasmeter::networks::sci {

// Settings of the driver for an installation.
struct DriverSettings {
  Bytes alignment = 8;    // of DMA: both addresses and the size
  bool big_area = false;  // contiguous memory without a limit
};

// An installation belongs to one engine, whose nodes are the topology's vertices. The engine outlives it. The
// destructor cancels the engine's bodies. Any number of engine threads may use it: the state of a node is touched on
// that node alone.
class SciNetwork final : private sim::FabricSink {
 public:
  // Throws UsageError for parameters that the card cannot have, and for links that go both ways. The same holds for
  // more ranks of a node than its card distinguishes.
  SciNetwork(sim::Engine& engine, sim::Topology topology, const SciParameters& parameters = {},
             const DriverSettings& driver = {});
  SciNetwork(const SciNetwork&) = delete;
  SciNetwork& operator=(const SciNetwork&) = delete;
  ~SciNetwork() { engine_.cancel(); }

  [[nodiscard]] Sisci& sisci(Rank rank) { return ranks_[index(rank)]; }
  [[nodiscard]] sim::Engine& engine() const { return engine_; }
  [[nodiscard]] const SciParameters& parameters() const { return parameters_; }
  [[nodiscard]] const DriverSettings& driver() const { return driver_; }
  [[nodiscard]] sim::Fabric& fabric() { return fabric_; }

  // ---- for cards and ranks
  [[nodiscard]] SciCard& card(NodeId node) { return cards_[index(node)]; }
  [[nodiscard]] sim::PacketPool<SciPacket>& packets() { return packets_; }
  // Dimension of the first ring on the way between two nodes.
  [[nodiscard]] std::uint32_t first_dimension(std::uint32_t from, std::uint32_t to) const;
  // The rank with this number among the ranks of a node.
  [[nodiscard]] Rank rank_of(NodeId node, std::uint8_t place) const { return engine_.ranks_of(node)[place]; }

 private:
  SimTime arrived(sim::Packet& packet, SimTime now) override;
  void departed(sim::Packet& /*packet*/, SimTime /*end*/) override {}
  void echoed(const sim::Packet& echo, SimTime now) override;

  sim::Engine& engine_;
  SciParameters parameters_;
  DriverSettings driver_;
  sim::PacketPool<SciPacket> packets_;
  sim::Fabric fabric_;
  std::deque<SciCard> cards_;
  std::deque<Sisci> ranks_;
};

}  // namespace gasmeter::networks::sci
