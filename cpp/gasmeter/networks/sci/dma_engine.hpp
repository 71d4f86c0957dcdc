// The DMA engine of a card, which works off one transfer after the other, from exported memory of its node into a
// segment of another node.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>

#include "gasmeter/base/units.hpp"
#include "gasmeter/sim/action.hpp"
#include "gasmeter/sim/fabric/unit.hpp"

namespace gasmeter::networks::sci {

class SciCard;
class Segment;

// A transfer in the driver's queue. Addresses and sizes are whole multiples of the driver's alignment.
struct DmaTransfer {
  Rank by{};
  Rank to{};
  const std::byte* from = nullptr;
  Segment* segment = nullptr;
  Bytes at = 0;
  Bytes bytes = 0;
  bool* done = nullptr;  // set when all transactions of the transfer are closed
};

class DmaEngine : private sim::Action {
 public:
  explicit DmaEngine(SciCard& card) : sim::Action(&DmaEngine::on_due), card_(card) {}
  DmaEngine(const DmaEngine&) = delete;
  DmaEngine& operator=(const DmaEngine&) = delete;

  void post(const DmaTransfer& transfer, SimTime now);

  // --- for the card
  void go_on(SimTime now);  // the packet that waited is a transaction
  void ended(SimTime now);  // the transfer's last transaction is closed

 private:
  static void on_due(sim::Action& action, SimTime now);
  void begin(SimTime now);
  void read_next(SimTime now);
  void send_next(SimTime now);
  [[nodiscard]] Bytes next_size() const;

  SciCard& card_;
  std::deque<DmaTransfer> transfers_;  // the first one is in progress
  Bytes sent_ = 0;                     // of the first one
  bool begun_ = false;                 // start-up of the first one is over
};

}  // namespace gasmeter::networks::sci
