// Unordered packets choose among ways. For the sources of Fabric alone.
//
// At its first router a packet looks at the outputs that some ways begin with, picked at random among those without and
// those with a detour, and takes the one where the bytes that wait for the link, times the links of the way, are least;
// of equal ones the first, and those without a detour come first. Where nothing waits nobody makes a detour. That is
// UGAL with what the router itself can see (J. Kim, W. J. Dally, S. Scott, D. Abts, Technology-Driven, Highly-Scalable
// Dragonfly Topology, ISCA 2008).
//
// All that it looks at is of the router's own node, and what is random follows from how many packets have chosen there:
// the same on any number of threads.
#pragma once

#include <vector>

#include "gasmeter/sim/fabric_state.hpp"
#include "gasmeter/sim/tracer.hpp"

namespace gasmeter::sim {

class Fabric::Choices {
 public:
  explicit Choices(Fabric& fabric);

  // Of packets, instead of Fabric::on_arrival.
  static void on_arrival(Action& packet, SimTime now);
  // `hop`: how a packet came over a link.
  static void name_steps(Tracer& tracer, const Tracer::Explain& hop);

 private:
  [[nodiscard]] Route choose(const Packet& packet, SimTime now);
  [[nodiscard]] SimTime load(std::uint32_t link, Bytes bytes, SimTime now) const;

  Fabric& fabric_;
  std::vector<std::uint64_t> chosen_;  // at each router
};

}  // namespace gasmeter::sim
