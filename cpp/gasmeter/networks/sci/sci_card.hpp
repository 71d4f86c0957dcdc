// The SCI card of one node: a bridge from PCI to its rings, and back.
//
// Stores become packets, and each packet is a transaction: open until its echo returns. A bridge has a limited number
// of open transactions. A core stalls if its store finds none free, or while it waits for its echoes or for a load.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "gasmeter/base/platform.hpp"
#include "gasmeter/networks/sci/packet.hpp"
#include "gasmeter/networks/sci/parameters.hpp"
#include "gasmeter/sim/engine/engine.hpp"
#include "gasmeter/sim/fabric/intrusive_queue.hpp"
#include "gasmeter/sim/fabric/unit.hpp"

namespace gasmeter::networks::sci {

class DmaEngine;
class SciNetwork;

class alignas(kNoSharing) SciCard {
 public:
  // Owners of transactions: the ranks of the node by number, then the DMA engine. Answers to loads have no owner.
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

  // Open one more transaction, to another node. Return false if the bridge has none left. The packet then waits its
  // turn, and if it `releases`, the stall of its rank ends with that turn.
  bool transact(SciPacket& packet, SimTime now);
  // Tell whether a rank of the node, or the DMA engine, has no open or waiting transactions. If it has, await() ends
  // the rank's stall when they are closed.
  [[nodiscard]] bool is_quiet(std::uint8_t slot) const { return slots_[slot].open == 0; }
  void await(std::uint8_t slot) { slots_[slot].is_awaited = true; }
  // Deliver a packet without links: within the node, or back to it.
  void deliver(SciPacket& packet, SimTime now);

  // --- the link's side
  SimTime arrived(SciPacket& packet, SimTime now);
  void echoed(const sim::Packet& echo, SimTime now);

  [[nodiscard]] std::uint64_t transactions() const { return transactions_; }
  [[nodiscard]] std::uint64_t held() const { return held_; }

 private:
  struct Slot {
    std::uint32_t open = 0;  // open transactions, including waiting ones
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
  sim::PacketQueue waiting_;  // packets that wait for a transaction
  sim::FifoServer to_host_;
  sim::Pipeline<SciPacket, SciCard, &SciCard::leave> sending_;
  sim::Pipeline<SciPacket, SciCard, &SciCard::deliver> receiving_;
  sim::Pipeline<SciPacket, SciCard, &SciCard::answer> reading_;
  std::uint64_t transactions_ = 0;
  std::uint64_t held_ = 0;  // packets that had to wait
};

}  // namespace gasmeter::networks::sci
