// Rings whose links go one way. Only sources of Fabric include this header.
//
// Each ring of a packet's way is a transaction of its own. The node that takes the packet out of the ring sends an echo
// on. The echo goes the rest of the ring, back to where the packet came in: packet and echo load every link of the ring
// once. A packet that must go further is taken in whole, and then sent on in its next ring as if from there: the turn.
// It keeps its buffer until it has left; echoes have no buffer to wait in before their first link.
//
// No cycle of waiting packets closes. Within a ring packets and echoes are in channel 1 from the wrap link on, which a
// way crosses at most once. A packet waits for rings of later dimensions only. An echo is taken wherever it ends, and a
// packet leaves its ring whether its echo has begun or not.
#pragma once

#include "gasmeter/sim/fabric/fabric_state.hpp"
#include "gasmeter/sim/fabric/packet_pool.hpp"
#include "gasmeter/sim/trace/tracer.hpp"

namespace gasmeter::sim {

class Fabric::Rings {
 public:
  // Throws UsageError without an echo, or for a negative turn.
  explicit Rings(Fabric& fabric);

  // Let a packet that was injected, or has turned, look at the first link of its next ring.
  void enter(Packet& packet, SimTime now);
  // Take the place of Fabric::on_arrival for packets and for echoes.
  static void on_arrival(Action& packet, SimTime now);
  static void on_echo(Action& echo, SimTime now);
  // `hop`: explains how a packet came over a link.
  void name_steps(Tracer& tracer, const Tracer::Explain& hop) const;

 private:
  struct Echo : Packet {};

  static void on_turned(Action& packet, SimTime now);
  static void on_echo_start(Action& echo, SimTime now);
  void echo(const Packet& packet, std::uint32_t dimension);

  Fabric& fabric_;
  PacketPool<Echo> echoes_;
};

}  // namespace gasmeter::sim
