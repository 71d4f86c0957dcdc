// A network that shows nothing, for tests of what a fabric refuses.
#pragma once

#include "gasmeter/sim/fabric/fabric.hpp"

namespace gasmeter::sim::testing {

struct Nowhere : FabricSink {
  SimTime arrived(Packet& packet, SimTime) override { return packet.tail; }
  void departed(Packet&, SimTime) override {}
};

}  // namespace gasmeter::sim::testing
