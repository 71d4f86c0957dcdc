// The card of one node: what its ranks share, and the way to and from the link.
//
// What a packet takes in the two cards that it passes (nic.passage) is counted where it arrives, and the links between
// a card and its host are asked for when it does: latencies come behind.
#pragma once

#include "gasmeter/base/platform.hpp"
#include "gasmeter/networks/aries/bte.hpp"
#include "gasmeter/networks/aries/packet.hpp"
#include "gasmeter/networks/aries/parameters.hpp"
#include "gasmeter/services/atomic_unit.hpp"
#include "gasmeter/sim/engine.hpp"
#include "gasmeter/sim/unit.hpp"

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
  // When the card begins with a request that is there at `at`.
  [[nodiscard]] SimTime take_request(SimTime at) {
    return requests_.serve(at, parameters().request) - parameters().request;
  }
  // When bytes that are asked for from `at` on are in the card, its latency apart.
  [[nodiscard]] SimTime from_host(SimTime at, Bytes bytes) { return from_host_.serve(at, on_host(bytes)); }
  // Likewise, of bytes that would be there at `at` if the link had been theirs alone.
  [[nodiscard]] SimTime from_host_by(SimTime at, Bytes bytes) { return from_host(at - on_host(bytes), bytes); }
  [[nodiscard]] SimTime on_link(Bytes wire) const;
  // That the core stores for it, beside what is in every post; that it brings to the target.
  [[nodiscard]] static Bytes payload_of(const RequestPacket& request);

  // ---- packets
  [[nodiscard]] RequestPacket& take_request_packet();
  // Of a put, or of the answer to a get, from this node to where the request is not.
  [[nodiscard]] DataPacket& piece_of(RequestPacket& request, PacketKind kind, Bytes before, Bytes size);
  // A get of some bytes of another one.
  [[nodiscard]] RequestPacket& part_of(RequestPacket& whole, Bytes before, Bytes size);
  void inject(sim::Packet& packet, SimTime now);

  // ---- the host's side
  // What a put reads may change: it is in the card at `at`.
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
