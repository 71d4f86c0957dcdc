// Fabric with the simplest network interfaces: they put, acknowledge and fetch-and-add without a host. The kernel
// `simulator` measures the cost of simulating links and routers. It describes no machine: see README.md.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "gasmeter/base/platform.hpp"
#include "gasmeter/base/units.hpp"
#include "gasmeter/conduit/host.hpp"
#include "gasmeter/conduit/recording.hpp"
#include "gasmeter/sim/engine/engine.hpp"
#include "gasmeter/sim/engine/model_host.hpp"
#include "gasmeter/sim/fabric/fabric.hpp"
#include "gasmeter/sim/fabric/packet_pool.hpp"

namespace gasmeter::networks::fabric {

inline constexpr Bytes kPayload = 64;  // bytes of a put, a cache line
inline constexpr Bytes kHeader = 24;   // bytes of every packet's header on the wire

class BareNetwork;

// Keeps the interface's operations until the rank notices them, for a record of the rank's program.
class PortRecord {
 public:
  explicit PortRecord(conduit::RankRecord& rank) : rank_(rank) {}

  void posted(conduit::RecordedKind kind, Rank to, Bytes bytes, SimTime begin) {
    under_way_[to].push_back({bytes, rank_.initiated(kind, to, bytes, begin, 0)});
  }
  void completed(Rank peer) { completions_.push_back(peer); }
  void arrived(Rank peer) { arrivals_.push_back(peer); }
  // Record the operations that the rank notices when it reads its counters.
  void notice_completions();
  void notice_arrivals();

 private:
  struct UnderWay {
    Bytes bytes = 0;
    std::uint64_t sequence = 0;
  };
  conduit::RankRecord& rank_;
  std::map<Rank, std::deque<UnderWay>> under_way_;  // in the order of posting for each peer
  std::vector<Rank> completions_;                   // completions that the rank has not noticed
  std::vector<Rank> arrivals_;
};

// Access of one rank to its node's interface. Only the rank's own fibre calls it. Operations have no limit.
class BarePort {
 public:
  BarePort(BareNetwork& network, sim::ModelHost host, std::span<std::byte> memory)
      : network_(&network), host_(host), memory_(memory) {}

  // Put 64 bytes at the same offset of another rank's memory. The interface there acknowledges them.
  void put(Rank to, Bytes offset, const std::byte* from);
  // Add to a word. last_fetched() then has its old value.
  void fetch_add(Rank to, Bytes offset, std::uint64_t operand);

  // Return the number of completed puts and fetch-adds of this rank.
  [[nodiscard]] std::uint64_t completed() const {
    if (GASMETER_UNLIKELY(record_ != nullptr)) record_->notice_completions();
    return completed_;
  }
  // Return the number of puts into this rank's memory.
  [[nodiscard]] std::uint64_t arrived() const {
    if (GASMETER_UNLIKELY(record_ != nullptr)) record_->notice_arrivals();
    return arrived_;
  }
  [[nodiscard]] std::uint64_t last_fetched() const { return fetched_; }
  [[nodiscard]] std::span<std::byte> memory() const { return memory_; }
  [[nodiscard]] sim::ModelHost& host() { return host_; }
  // Sleep until an operation completes. May return early.
  void wait_completion() { wait(hears_completions_); }
  // Sleep until a put arrives. May return early.
  void wait_arrival() { wait(hears_arrivals_); }
  // Write the rank's posts and notices to `record` from now on. It outlives the port.
  void record(conduit::RankRecord& record) { record_ = std::make_unique<PortRecord>(record); }

 private:
  friend class BareNetwork;
  // Sleep until the event that `hears` stands for. No other event wakes the rank.
  void wait(bool& hears) {
    hears = true;
    host_.idle(kNever);
    hears = false;
  }

  BareNetwork* network_;
  sim::ModelHost host_;
  std::span<std::byte> memory_;
  std::uint64_t completed_ = 0;
  std::uint64_t arrived_ = 0;
  std::uint64_t fetched_ = 0;
  bool hears_arrivals_ = false;
  bool hears_completions_ = false;
  std::unique_ptr<PortRecord> record_;
};

class BareNetwork final : public sim::FabricSink {
 public:
  // Makes one port per rank, each with `memory` bytes. `flow_of_puts` is the flow of puts and their acknowledgements.
  // All other packets are in order.
  BareNetwork(sim::Engine& engine, const sim::Topology& topology, const sim::FabricParameters& links, Bytes memory,
              std::uint32_t flow_of_puts = 0);

  // EngineOptions::stack_room for its ranks. Their programs call few functions and leave most of a page: sixteen
  // packets.
  static constexpr Bytes kStackRoom = 2304;

  [[nodiscard]] BarePort& port(Rank rank) { return ports_[index(rank)]; }
  [[nodiscard]] sim::Fabric& fabric() { return fabric_; }
  [[nodiscard]] bool keeps_order() const { return flow_of_puts_ != sim::kUnordered; }

 private:
  friend class BarePort;
  enum Kind : std::uint8_t { put, acknowledgement, fetch_add, fetched };

  struct Packet : sim::Packet {
    std::uint32_t source = 0;  // ranks
    std::uint32_t target = 0;
    std::uint64_t offset = 0;
    std::array<std::byte, kPayload> payload;
  };
  static_assert(16 * sizeof(Packet) == kStackRoom);

  SimTime arrived(sim::Packet& packet, SimTime now) override;
  void departed(sim::Packet&, SimTime) override {}
  [[nodiscard]] Packet& packet_to(Rank from, Rank to, Kind kind, Bytes payload);
  void turn_round(Packet& packet, Kind kind, Bytes payload, SimTime now);
  void finish(Packet& packet, SimTime now);

  sim::Engine& engine_;
  sim::PacketPool<Packet> packets_;
  sim::Fabric fabric_;
  std::uint32_t flow_of_puts_;
  std::vector<std::byte> memory_;
  std::vector<BarePort> ports_;
};

}  // namespace gasmeter::networks::fabric
