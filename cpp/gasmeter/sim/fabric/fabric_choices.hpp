// Unordered packets choose among ways. Only sources of Fabric include this header.
//
// At its first router a packet looks at the outputs with which some ways begin, drawn among ways without and ways with
// a detour. It takes the output where the bytes that wait for the link, times the links of the way, are least. Among
// equal outputs the first wins, and ways without a detour come first: where nothing waits nobody makes a detour. This
// is UGAL with what the router itself can see (J. Kim, W. J. Dally, S. Scott, D. Abts, Technology-Driven,
// Highly-Scalable Dragonfly Topology, ISCA 2008).
//
// All inputs of a choice belong to the router's own node, and the draw follows from how many packets have chosen there:
// the result is the same on any number of threads.
#pragma once

#include <vector>

#include "gasmeter/sim/fabric/fabric_state.hpp"
#include "gasmeter/sim/trace/tracer.hpp"

namespace gasmeter::sim {

class Fabric::Choices {
 public:
  explicit Choices(Fabric& fabric);

  // Take the place of Fabric::on_arrival for packets.
  static void on_arrival(Action& packet, SimTime now);
  // `hop`: explains how a packet came over a link.
  static void name_steps(Tracer& tracer, const Tracer::Explain& hop);

 private:
  [[nodiscard]] Route choose(const Packet& packet, SimTime now);
  [[nodiscard]] SimTime load(std::uint32_t link, Bytes bytes, SimTime now) const;

  Fabric& fabric_;
  std::vector<std::uint64_t> chosen_;  // packets that have chosen, by router
};

}  // namespace gasmeter::sim
