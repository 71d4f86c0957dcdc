// Packets that travel through a fabric.
#pragma once

#include <cstdint>
#include <limits>

#include "gasmeter/base/units.hpp"
#include "gasmeter/sim/action.hpp"
#include "gasmeter/sim/fabric/intrusive_queue.hpp"
#include "gasmeter/sim/topology/route.hpp"

namespace gasmeter::sim {

class Fabric;

inline constexpr std::uint32_t kNoLink = std::numeric_limits<std::uint32_t>::max();
inline constexpr std::uint8_t kMostKinds = 0x80;  // kinds by which a network tells its packets apart

// A network derives its packets from this class and keeps their contents there. It fills one cache line: the fabric
// touches no other. A packet belongs to the network until inject() and again from FabricSink::arrived() on.
struct Packet : Action {
  Packet() : Action(nullptr) {}
  Packet(const Packet&) = delete;
  Packet& operator=(const Packet&) = delete;

  Fabric* fabric = nullptr;
  SimTime tail;                  // when its last byte is at `vertex`
  std::uint32_t from = 0;        // terminals
  std::uint32_t to = 0;          //
  std::uint32_t vertex = 0;      // vertex that holds the packet, or whose link it crosses
  std::uint32_t link = kNoLink;  // input by which it has come
  Route route;
  std::uint16_t bytes = 0;       // on the wire, all headers included
  std::uint8_t channel = 0;      // channel of the link
  std::uint8_t kind : 7 = 0;     // the network's own, below kMostKinds
  std::uint8_t watched : 1 = 0;  // call FabricSink::departed() when it leaves its first vertex
};
static_assert(sizeof(Packet) <= 64);

using PacketQueue = IntrusiveQueue<Packet>;

}  // namespace gasmeter::sim
