// The SCI card of one node: a bridge from PCI to its rings, and the way back.
//
// Stores become packets, and each packet is a transaction: open until its echo is back. A bridge has so many open
// transactions at a time; a core whose store finds none stalls, and so does one that waits for its echoes or for a
// load.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "gasmeter/base/platform.hpp"
#include "gasmeter/networks/sci/packet.hpp"
#include "gasmeter/networks/sci/parameters.hpp"
#include "gasmeter/sim/engine.hpp"
#include "gasmeter/sim/intrusive_queue.hpp"
#include "gasmeter/sim/unit.hpp"

namespace gasmeter::networks::sci {

class DmaEngine;
class SciNetwork;

class alignas(kNoSharing) SciCard {
 public:
  // Whose transactions: ranks of the node by their place there, then the DMA engine; answers to loads are nobody's.
  static constexpr std::uint8_t kMostRanks = 30;
  static constexpr std::uint8_t kDma = kMostRanks;
  static constexpr std::uint8_t kNobody = kMostRanks + 1;

  SciCard(SciNetwork& network, NodeId node);
  SciCard(const SciCard&) = delete;
  SciCard& operator=(const SciCard&) = delete;
  ~SciCard();

  [[nodiscard]] NodeId node() const { return node_; }
  [[nodiscard]] sim::Engine& engine() const;
  [[nodiscard]] const SciParameters& parameters() const;
  [[nodiscard]] DmaEngine& dma() const { return *dma_; }
  [[nodiscard]] SciPacket& take();

  // One more transaction, to another node. False: the bridge has none left; the packet waits its turn, and if it
  // `releases`, its rank's stall ends with it.
  bool transact(SciPacket& packet, SimTime now);
  // Whether a rank of the node, or the engine, has transactions open or waiting; else await() ends the rank's stall
  // when they have gone.
  [[nodiscard]] bool is_quiet(std::uint8_t slot) const { return slots_[slot].open == 0; }
  void await(std::uint8_t slot) { slots_[slot].is_awaited = true; }
  // Within the node, or back to it: without links.
  void deliver(SciPacket& packet, SimTime now);

  // --- the link's side
  SimTime arrived(SciPacket& packet, SimTime now);
  void echoed(const sim::Packet& echo, SimTime now);

  [[nodiscard]] std::uint64_t transactions() const { return transactions_; }
  [[nodiscard]] std::uint64_t held() const { return held_; }

 private:
  struct Slot {
    std::uint32_t open = 0;  // with those that wait
    bool is_awaited = false;
  };

  void start(SciPacket& packet, SimTime now);
  void leave(SciPacket& packet, SimTime now);
  void answer(SciPacket& packet, SimTime now);
  void close(std::uint8_t slot, SimTime now);

  SciNetwork& network_;
  NodeId node_;
  unsigned partition_;
  std::unique_ptr<DmaEngine> dma_;
  unsigned open_ = 0;
  std::vector<Slot> slots_;
  sim::PacketQueue waiting_;  // for a transaction
  sim::FifoServer to_host_;
  sim::Pipeline<SciPacket, SciCard, &SciCard::leave> sending_;
  sim::Pipeline<SciPacket, SciCard, &SciCard::deliver> receiving_;
  sim::Pipeline<SciPacket, SciCard, &SciCard::answer> reading_;
  std::uint64_t transactions_ = 0;
  std::uint64_t held_ = 0;  // that had to wait
};

}  // namespace gasmeter::networks::sci
