// Network of hosts with sockets, joined by switches.
//
// This class models cards, switches, the kernel's interrupt and its protocol input. EthernetSocket charges a rank for
// its system calls.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "gasmeter/networks/ethernet/ethernet_socket.hpp"
#include "gasmeter/networks/ethernet/packet.hpp"
#include "gasmeter/networks/ethernet/parameters.hpp"
#include "gasmeter/sim/engine/engine.hpp"
#include "gasmeter/sim/fabric/fabric.hpp"
#include "gasmeter/sim/fabric/packet_pool.hpp"

namespace gasmeter::networks::ethernet {

enum class Waiting : std::uint8_t { spin, sleep };

struct EthernetCounters {
  std::uint64_t interrupts = 0;
  std::uint64_t packets = 0;         // packets that a card has received
  std::uint64_t ring_drops = 0;      // ... and lost, because the kernel was late
  std::uint64_t incomplete = 0;      // datagrams that lost a packet this way
  std::uint64_t datagrams = 0;       // datagrams that reached their socket
  std::uint64_t overflow_drops = 0;  // ... and were lost, because its buffer was full
};

// Made for one engine, which outlives it and whose nodes are the topology's vertices. The destructor cancels the
// engine's bodies. Safe with any number of the engine's threads, because only events of a node touch that node's state.
class EthernetNetwork final : private sim::FabricSink {
 public:
  // `waiting` says how a rank waits for a datagram. Throws UsageError for parameters that packets cannot have, and
  // for ranks on nodes that are switches.
  EthernetNetwork(sim::Engine& engine, sim::Topology topology, const EthernetParameters& parameters = {},
                  Waiting waiting = Waiting::spin);
  EthernetNetwork(const EthernetNetwork&) = delete;
  EthernetNetwork& operator=(const EthernetNetwork&) = delete;
  ~EthernetNetwork() { engine_.cancel(); }

  // Each rank has two sockets, so that one can carry signals that the other must not see.
  [[nodiscard]] EthernetSocket& socket(Rank rank) { return sockets_[kSocketsPerRank * index(rank)]; }
  [[nodiscard]] EthernetSocket& second_socket(Rank rank) { return sockets_[kSocketsPerRank * index(rank) + 1]; }
  [[nodiscard]] const EthernetParameters& parameters() const { return parameters_; }
  [[nodiscard]] sim::Fabric& fabric() { return fabric_; }
  // Return the counters of all hosts. Only between runs of the engine.
  [[nodiscard]] EthernetCounters counters() const;
  // Name the events of hosts and links for a tracer.
  void name_steps(sim::Tracer& tracer) const;

  // ---- for sockets
  [[nodiscard]] sim::Engine& engine() const { return engine_; }
  [[nodiscard]] Waiting waiting() const { return waiting_; }
  [[nodiscard]] IpPacket& take_packet(NodeId node) { return *packets_.take(engine_.partition_of(node)); }
  // Hand a complete packet to the card, or to the kernel if both sockets are of one host. Returns the bytes that
  // departed() will report.
  Bytes send(IpPacket& packet, Rank from, Rank to, SimTime now);

  static constexpr std::uint32_t kSocketsPerRank = 2;

 private:
  // Packet processing in a host's kernel, which has a core of its own.
  struct Kernel {
    SimTime busy_until;
    unsigned waiting = 0;  // packets in the ring
    EthernetCounters counters;
  };

  SimTime arrived(sim::Packet& packet, SimTime now) override;
  void departed(sim::Packet& packet, SimTime end) override;
  static void on_received(sim::Action& packet, SimTime now);
  static void on_input(sim::Action& packet, SimTime now);
  void received(IpPacket& packet, SimTime now);
  void input(IpPacket& packet, SimTime now);

  sim::Engine& engine_;
  EthernetParameters parameters_;
  Waiting waiting_;
  sim::PacketPool<IpPacket> packets_;
  sim::Fabric fabric_;
  std::vector<Kernel> kernels_;  // by node
  std::deque<EthernetSocket> sockets_;
};

}  // namespace gasmeter::networks::ethernet
