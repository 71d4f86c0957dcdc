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
#include "gasmeter/sim/engine.hpp"
#include "gasmeter/sim/fabric.hpp"
#include "gasmeter/sim/packet_pool.hpp"

namespace gasmeter::networks::sci {

// What the driver is told of an installation.
struct DriverSettings {
  Bytes alignment = 8;    // of DMA: of both addresses and of the size
  bool big_area = false;  // contiguous memory without a limit
};

// Made for one engine, whose nodes are the topology's vertices; the engine outlives it. Its end cancels the engine's
// bodies. Safe with any number of the engine's threads: what a node has is touched on that node alone.
class SciNetwork final : private sim::FabricSink {
 public:
  // Throws UsageError for parameters that the card cannot have, for links that go both ways, and for more ranks of a
  // node than its card tells apart.
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
  // The dimension of the first ring of a way between two nodes.
  [[nodiscard]] std::uint32_t first_dimension(std::uint32_t from, std::uint32_t to) const;
  // By its place among the ranks of a node.
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
