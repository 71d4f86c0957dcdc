// Transfers that an adapter does alone: packet by packet, from registered memory into registered memory.
//
// A transfer first waits for the extra time of RDMA mode. Then the adapter on the node with the data reads them while
// they leave. The other adapter writes them, and answers a put when it has all.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "gasmeter/base/units.hpp"
#include "gasmeter/networks/lapi/packet.hpp"
#include "gasmeter/sim/action.hpp"

namespace gasmeter::networks::lapi {

class Adapter;

struct RdmaCommand {
  bool is_get = false;
  Rank origin{};
  Rank peer{};
  std::byte* local = nullptr;
  std::byte* remote = nullptr;
  Bytes bytes = 0;
  std::uint64_t counter = 0;
};

class RdmaUnit;

class RdmaTransfer : private sim::Action {
 public:
  explicit RdmaTransfer(RdmaUnit& unit) : sim::Action(&RdmaTransfer::on_due), unit_(unit) {}

 private:
  friend class RdmaUnit;
  static constexpr unsigned kAhead = 4;  // packets begun whose last byte has not left the adapter
  static void on_due(sim::Action& self, SimTime now);

  RdmaUnit& unit_;
  RdmaCommand command_;
  Bytes sent_ = 0;
  unsigned inside_ = 0;                    // packets that are begun and do not leave yet
  std::array<SimTime, kAhead> leaving_{};  // times when leaving packets have left, the earliest first
  unsigned leaving_count_ = 0;
  bool has_begun_ = false;
  bool all_begun_ = false;
  bool resumes_ = false;  // continues when a packet has left
};

// RDMA transfers of one adapter.
class RdmaUnit {
 public:
  explicit RdmaUnit(Adapter& adapter) : adapter_(adapter) {}
  RdmaUnit(const RdmaUnit&) = delete;
  RdmaUnit& operator=(const RdmaUnit&) = delete;

  // Start a transfer of a task on this node.
  void start(const RdmaCommand& command, SimTime now);
  // Answer another adapter's request for data.
  void answer(const LapiPacket& asks, SimTime now);
  // The last byte of a packet of data leaves at `end`.
  void departed(const LapiPacket& packet, SimTime end);

 private:
  friend class RdmaTransfer;

  [[nodiscard]] RdmaTransfer& take(const RdmaCommand& command);
  void begin(RdmaTransfer& transfer, SimTime now);
  void send(RdmaTransfer& transfer, SimTime now);
  void go_on_later(RdmaTransfer& transfer);

  Adapter& adapter_;
  std::deque<RdmaTransfer> transfers_;
  std::vector<RdmaTransfer*> free_;
};

}  // namespace gasmeter::networks::lapi
