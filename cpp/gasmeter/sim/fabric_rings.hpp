// Rings whose links go one way. For the sources of Fabric alone.
//
// Each ring of a packet's way is a transaction of its own. Whoever takes the packet out of the ring sends an echo on,
// which goes the rest of the ring back to where the packet came in: packet and echo load every link of the ring, once.
// A packet that has further to go is taken in whole, and then is sent on in its next ring as if from there: that is the
// turn. It keeps its buffer until it has left; echoes have no buffer to wait in before their first link.
//
// No cycle of waiting packets closes: within a ring packets and echoes are in channel 1 from the wrap link on, which a
// way crosses once at most; a packet waits for rings of later dimensions only; an echo is taken wherever it ends, and a
// packet leaves its ring whether its echo has begun or not.
#pragma once

#include "gasmeter/sim/fabric_state.hpp"
#include "gasmeter/sim/packet_pool.hpp"
#include "gasmeter/sim/tracer.hpp"

namespace gasmeter::sim {

class Fabric::Rings {
 public:
  // Throws UsageError without an echo, or for a negative turn.
  explicit Rings(Fabric& fabric);

  // A packet that has been injected, or has turned, looks at the first link of its next ring.
  void enter(Packet& packet, SimTime now);
  // Of packets, instead of Fabric::on_arrival, and of echoes.
  static void on_arrival(Action& packet, SimTime now);
  static void on_echo(Action& echo, SimTime now);
  // `hop`: how a packet came over a link.
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
