// The card of one node: the parts that its ranks share, and the path to and from the link.
//
// A packet's time in both cards (nic.passage) is counted where it arrives. The links between a card and its host are
// asked at the same time: latencies come after them.
#pragma once

#include "gasmeter/base/platform.hpp"
#include "gasmeter/networks/aries/bte.hpp"
#include "gasmeter/networks/aries/packet.hpp"
#include "gasmeter/networks/aries/parameters.hpp"
#include "gasmeter/services/atomic_unit.hpp"
#include "gasmeter/sim/engine/engine.hpp"
#include "gasmeter/sim/fabric/unit.hpp"

namespace gasmeter::networks::aries {

class AriesNetwork;
class Domain;

class alignas(kNoSharing) AriesNic {
 public:
  AriesNic(AriesNetwork& network, NodeId node);
  AriesNic(const AriesNic&) = delete;
  AriesNic& operator=(const AriesNic&) = delete;

  [[nodiscard]] NodeId node() const { return node_; }
  [[nodiscard]] sim::Engine& engine() const;
  [[nodiscard]] const AriesParameters& parameters() const;
  [[nodiscard]] Bte& bte() { return bte_; }

  // ---- times
  // Return when the card begins with a request that reaches it at `at`.
  [[nodiscard]] SimTime take_request(SimTime at) {
    return requests_.serve(at, parameters().request) - parameters().request;
  }
  // Return when bytes that are requested from `at` on are in the card, without the latency.
  [[nodiscard]] SimTime from_host(SimTime at, Bytes bytes) { return from_host_.serve(at, on_host(bytes)); }
  // Do the same for bytes that would be in the card at `at` if they had the link to themselves.
  [[nodiscard]] SimTime from_host_by(SimTime at, Bytes bytes) { return from_host(at - on_host(bytes), bytes); }
  [[nodiscard]] SimTime on_link(Bytes wire) const;
  // Bytes that the core stores beside the fields of every post, and that travel to the target.
  [[nodiscard]] static Bytes payload_of(const RequestPacket& request);

  // ---- packets
  [[nodiscard]] RequestPacket& take_request_packet();
  // Make a piece of a put or of the answer to a get. The piece travels from this node to the other side of the request.
  [[nodiscard]] DataPacket& piece_of(RequestPacket& request, PacketKind kind, Bytes before, Bytes size);
  // Make a get of some bytes of another get.
  [[nodiscard]] RequestPacket& part_of(RequestPacket& whole, Bytes before, Bytes size);
  void inject(sim::Packet& packet, SimTime now);

  // ---- the host's side
  // Report that a put's source may change: it is in the card at `at`.
  void tell_local(const RequestPacket& request, SimTime at);

  // ---- the unit for atomics
  [[nodiscard]] SimTime read_word(SimTime from);
  [[nodiscard]] SimTime write_word(SimTime from);
  void atomic_done(RequestPacket& request, SimTime now);

  // ---- the link's side
  SimTime arrived(sim::Packet& packet, SimTime now);

 private:
  using AtomicUnit = services::AtomicUnit<AriesNic, RequestPacket>;

  [[nodiscard]] SimTime on_host(Bytes bytes) const;
  [[nodiscard]] SimTime into_host(const sim::Packet& packet, Bytes bytes, SimTime now);
  [[nodiscard]] Domain& target(const RequestPacket& request) const;

  void take_get(RequestPacket& request);
  void answer(sim::Packet& packet, SimTime now);
  void written(sim::Packet& packet, SimTime now);
  void put_written(RequestPacket& request, SimTime now);
  void got(RequestPacket& request, Bytes before, Bytes bytes, SimTime now);
  void tell_remote(const RequestPacket& request, EventType type, std::uint64_t data, SimTime now);
  void wake_watcher(Rank rank, const std::byte* memory, Bytes bytes, SimTime now);
  void acknowledged(RequestPacket& request, SimTime at);
  void turn_round(RequestPacket& request, PacketKind kind, Bytes payload);
  void give(RequestPacket& request);
  void give(DataPacket& packet);

  AriesNetwork& network_;
  NodeId node_;
  unsigned partition_;
  sim::FifoServer requests_;
  sim::FifoServer from_host_;
  sim::FifoServer to_host_;
  Bte bte_;
  AtomicUnit atomics_;
  sim::Pipeline<sim::Packet, AriesNic, &AriesNic::answer> answering_;
  sim::Pipeline<sim::Packet, AriesNic, &AriesNic::written> writing_;
};

}  // namespace gasmeter::networks::aries
