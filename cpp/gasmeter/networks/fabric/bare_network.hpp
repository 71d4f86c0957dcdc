// The fabric alone: network interfaces that put, acknowledge and fetch-and-add by themselves, for what it costs to
// simulate links and routers and nothing else. No machine: see README.md.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "gasmeter/base/units.hpp"
#include "gasmeter/conduit/host.hpp"
#include "gasmeter/conduit/machine_values.hpp"
#include "gasmeter/sim/engine.hpp"
#include "gasmeter/sim/fabric.hpp"
#include "gasmeter/sim/model_host.hpp"
#include "gasmeter/sim/packet_pool.hpp"

namespace gasmeter::networks::fabric {

inline constexpr Bytes kPayload = 64;  // of a put; a cache line
inline constexpr Bytes kHeader = 24;   // of every packet on the wire

struct BareParameters {
  sim::LinkParameters links;
  conduit::HostPrices prices;
  // Takes the keys host.poll_miss, host.post, link.bandwidth, link.latency and link.buffer.
  static BareParameters from(conduit::MachineValues& machine);
};

class BareNetwork;

// What one rank has of its node's interface. Its calls are made on the rank's own fibre; no limit of their number.
class BarePort {
 public:
  BarePort(BareNetwork& network, sim::ModelHost host, std::span<std::byte> memory)
      : network_(&network), host_(host), memory_(memory) {}

  // 64 bytes to the same offset of another rank's memory; acknowledged by the interface there.
  void put(Rank to, Bytes offset, const std::byte* from);
  // Adds to a word; the word as it was comes back in last_fetched().
  void fetch_add(Rank to, Bytes offset, std::uint64_t operand);

  [[nodiscard]] std::uint64_t completed() const { return completed_; }  // puts and fetch-adds of this rank
  [[nodiscard]] std::uint64_t arrived() const { return arrived_; }      // puts into its memory
  [[nodiscard]] std::uint64_t last_fetched() const { return fetched_; }
  [[nodiscard]] std::span<std::byte> memory() const { return memory_; }
  [[nodiscard]] sim::ModelHost& host() { return host_; }
  // Sleeps until something completes. May return early.
  void wait_completion() { host_.idle(kNever); }
  // Sleeps until something completes or arrives. May return early.
  void wait_arrival() {
    hears_arrivals_ = true;
    host_.idle(kNever);
    hears_arrivals_ = false;
  }

 private:
  friend class BareNetwork;
  BareNetwork* network_;
  sim::ModelHost host_;
  std::span<std::byte> memory_;
  std::uint64_t completed_ = 0;
  std::uint64_t arrived_ = 0;
  std::uint64_t fetched_ = 0;
  bool hears_arrivals_ = false;
};

class BareNetwork final : public sim::FabricSink {
 public:
  // One port per rank; `memory`: of each.
  BareNetwork(sim::Engine& engine, const sim::Topology& topology, const sim::LinkParameters& links, Bytes memory);

  [[nodiscard]] BarePort& port(Rank rank) { return ports_[index(rank)]; }
  [[nodiscard]] sim::Fabric& fabric() { return fabric_; }

 private:
  friend class BarePort;
  enum Kind : std::uint8_t { put, acknowledgement, fetch_add, fetched };

  struct Packet : sim::Packet {
    std::uint32_t source = 0;  // ranks
    std::uint32_t target = 0;
    std::uint64_t offset = 0;
    std::array<std::byte, kPayload> payload;
  };

  SimTime arrived(sim::Packet& packet, SimTime now) override;
  void departed(sim::Packet&, SimTime) override {}
  [[nodiscard]] Packet& packet_to(Rank from, Rank to, Kind kind, Bytes payload);
  void send(Packet& packet, SimTime now);
  void turn_round(Packet& packet, Kind kind, Bytes payload, SimTime now);
  void finish(Packet& packet, SimTime now);

  sim::Engine& engine_;
  sim::PacketPool<Packet> packets_;
  sim::Fabric fabric_;
  std::vector<std::byte> memory_;
  std::deque<BarePort> ports_;
};

}  // namespace gasmeter::networks::fabric
