// Links and routers between the terminals of a topology, packet by packet.
//
// A packet's head crosses a link in the link's latency (router and wire) and may go on at once (cut-through). The link
// is busy while the bytes pass. A router has a buffer of so many packets for each link that ends there and each of its
// virtual channels. A packet is sent only where a buffer is free (credits, which take the wire's way back). In a buffer
// packets for different outputs do not block one another (virtual output queues). An output serves packets in order of
// arrival. A packet that finds no free buffer at the far end lets packets of other channels pass. A packet leaves its
// buffer with its last byte.
//
// The cost of a link depends on its class, which the topology tells. On one-way rings the node that takes a packet out
// of a ring sends a short echo on, over the rest of the ring, to where the packet entered it: fabric_rings.hpp.
// Unordered packets choose their way where the topology has several: fabric_choices.hpp.
//
// As long as buffers are free at the far end, a packet's turn is known when the packet arrives, and so is all that
// follows: a hop is one event.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "gasmeter/base/platform.hpp"
#include "gasmeter/base/units.hpp"
#include "gasmeter/sim/engine/engine.hpp"
#include "gasmeter/sim/fabric/credit_return.hpp"
#include "gasmeter/sim/fabric/packet.hpp"
#include "gasmeter/sim/fabric/packet_pool.hpp"
#include "gasmeter/sim/fabric/shortage.hpp"
#include "gasmeter/sim/fabric/tree_ways.hpp"
#include "gasmeter/sim/fabric/way_table.hpp"
#include "gasmeter/sim/topology/topology.hpp"

namespace gasmeter::sim {

class StateWalk;

// Cost and buffers of one class of links (Topology::link_classes).
struct LinkParameters {
  std::int64_t per_byte_fs = 0;  // in one direction
  SimTime latency;               // from leaving a router to leaving the next one, if nothing is in the way
  unsigned buffer = 0;           // packets, per link and channel; 0: no limit
};

struct FabricParameters {
  explicit FabricParameters(const LinkParameters& all) : links(all) {}

  LinkParameters links;                           // for all classes that are not named below
  std::map<std::string, LinkParameters> classes;  // other links, by class

  // For one-way rings, which must have an echo.
  std::uint16_t echo = 0;  // bytes of the echo, sent on to where a packet entered its ring once it is all there
  SimTime turn;            // time from there to the packet's first look at the link of its next ring
};

// The terminals of a network, as the network implements them. Called on the terminal's node.
class FabricSink {
 public:
  // The packet's head has arrived; its last byte comes at packet.tail. Return when the packet has left the router's
  // buffer, no earlier than packet.tail. The packet now belongs to the sink.
  virtual SimTime arrived(Packet& packet, SimTime now) = 0;
  // A watched packet leaves its first vertex; its last byte has left at `end`.
  virtual void departed(Packet& packet, SimTime end) = 0;

  // On one-way rings: the head of an echo is back at `echo.to`, where a packet entered a ring that it left at
  // `echo.from`. `echo.kind` is the packet's. Echoes from one end of a ring come in the order of the packets.
  virtual void echoed(const Packet& echo, SimTime now);

 protected:
  FabricSink() = default;
  FabricSink(const FabricSink&) = default;
  FabricSink& operator=(const FabricSink&) = default;
  ~FabricSink() = default;
};

// Traffic that one direction of a link has carried.
struct LinkUse {
  std::uint32_t vertex = 0;
  std::uint32_t port = 0;
  std::uint32_t to = 0;
  std::uint64_t packets = 0;
  std::uint64_t bytes = 0;
  SimTime busy;
  SimTime longest_wait;       // a packet's wait for the link, without its wait for free buffers
  std::uint64_t blocked = 0;  // packets that found no free buffer
};

// A fabric belongs to one engine, whose nodes are the vertices of the topology; the engine outlives it.
class Fabric : private Wiring {
 public:
  // Throws UsageError where the engine's nodes are not the topology's vertices, for negative costs, for one-way rings
  // without an echo, for classes that the topology does not have, and where only some classes have limited buffers.
  Fabric(Engine& engine, Topology topology, const FabricParameters& parameters, FabricSink& sink);
  // Make links of one class, used both ways.
  Fabric(Engine& engine, Topology topology, const LinkParameters& links, FabricSink& sink);
  Fabric(const Fabric&) = delete;
  Fabric& operator=(const Fabric&) = delete;
  ~Fabric();

  [[nodiscard]] const Topology& topology() const { return topology_; }
  // Parameters of the links whose class is not named.
  [[nodiscard]] const LinkParameters& links() const { return parameters_.links; }
  [[nodiscard]] Engine& engine() const { return engine_; }
  [[nodiscard]] FabricSink& sink() const { return sink_; }
  [[nodiscard]] SimTime on_wire(Bytes bytes) const { return LinkCost{links().per_byte_fs, {}}.on_wire(bytes); }

  // Inject `packet` (from, to, bytes, kind, watched filled in): it enters the router of its terminal now, with all its
  // bytes. The first router's queue has no limit; a NIC that wants a limit watches its packets. A packet to its own
  // terminal arrives at once. A rank that injects is synchronised first; `now` is its clock. Packets of one flow
  // between the same two terminals stay in order. Packets of different flows may take different ways where there are
  // several, and kUnordered packets any.
  void inject(Packet& packet, SimTime now, std::uint32_t flow = 0);

  // Return the use of every link that exists since the last reset.
  [[nodiscard]] std::vector<LinkUse> use() const;
  void reset_use();

  // --- for a network's SteadyTraffic
  // Add the links of a packet's way. False: the way passes links whose traffic does not come round (one-way rings), or
  // its links are not known.
  [[nodiscard]] bool add_way(std::uint32_t from, std::uint32_t to, std::vector<std::uint32_t>& links,
                             std::uint32_t flow = 0) const;
  // Visit the state of a link, as an observer between two events of the whole fabric sees it. `packet` visits the
  // network's own part of packets that wait for a buffer.
  void walk(std::uint32_t link, StateWalk& walk, const std::function<void(Packet&)>& packet);
  // Visit a packet that goes over links.
  void walk(const Posted& entry, StateWalk& walk) const;
  [[nodiscard]] bool is_packet(const Posted& entry) const {
    return entry.is_express() || entry.action->is() == arrival_;
  }
  // Return the link whose retry the entry is; kNoLink: the entry is something else.
  [[nodiscard]] std::uint32_t link_of_retry(const Posted& entry) const {
    const bool is_retry = !entry.is_express() && entry.action->is() == &Fabric::on_retry;
    return is_retry ? static_cast<const Shortage*>(entry.action)->link : kNoLink;
  }

  // Tell a tracer the steps of the fabric's events.
  void name_steps(Tracer& tracer) const;
  // Make packets actions at every hop from now on, for tests that follow them: none is express.
  void go_step_by_step() { express_ = may_express_ = false; }

 private:
  struct Output;
  class Rings;
  class Choices;
  template <std::uint32_t kDimensions>
  struct OnGrid;
  struct InTree;
  template <class Ways>
  class Through;

  // Cost that a hop takes from a link's class.
  struct LinkCost {
    std::int64_t per_byte_fs = 0;
    SimTime latency;
    bool operator==(const LinkCost&) const = default;
    [[nodiscard]] SimTime on_wire(Bytes bytes) const { return SimTime::of_bytes(per_byte_fs, bytes); }
  };
  // The far end of a link, known by the port at the vertex where the link ends: half a cache line.
  struct Input {
    CreditReturn::Word last = 0;         // credit that was given
    CreditReturn::Word* ring = nullptr;  // credits, as a ring
    std::uint32_t places = 0;            // in the ring
    CreditReturn::Count given = 0;
    CreditReturn::Count full = 0;  // `given` where there may be no place for the next one
    std::uint8_t link_class = 0;   // class of the link, whose latency delays credits
    bool is_awaited = false;       // packets wait for buffers: the far end is told of each that falls free
    bool is_apart = false;  // another thread may run the node where the link begins, to which all other fields belong
  };

  static void on_arrival(Action& packet, SimTime now);
  static void walk_way(const Packet& packet, StateWalk& walk);
  void set_classes();
  void set_slow_links();
  void set_links();
  [[nodiscard]] const LinkCost& cost_of(const Output& output) const;
  [[nodiscard]] bool all_cost_the_same() const;
  static void on_retry(Action& shortage, SimTime now);
  void inject_step_by_step(Packet& packet, SimTime now, std::uint32_t flow);
  void route(Packet& packet, SimTime now);
  void route_one(Packet& packet, SimTime now);  // the same, not inlined: for other files
  // A packet's crossing of a link: when its head begins and when its last byte has left.
  struct Crossing {
    SimTime start;
    SimTime end;
  };
  [[nodiscard]] Crossing cross(Output& output, const LinkCost& cost, std::uint32_t channel, Bytes bytes, SimTime now,
                               const SimTime* tail);
  [[nodiscard]] std::uint32_t far_end(const Output& output) const;
  [[nodiscard]] NodeId origin(const Posted& express) const override;
  void carry_one(Partition& partition, const Posted& express) override {
    through_.carry_one(*this, partition, express);
  }
  // Functions that carry express packets on grids of so many dimensions and in trees; all null where nothing is
  // express.
  struct ThroughTraffic {
    Wiring::Carry carry = nullptr;
    void (*carry_one)(Fabric& fabric, Partition& partition, const Posted& express) = nullptr;
    void (*inject)(Fabric& fabric, Packet& packet, SimTime now) = nullptr;
    // A packet that has waited crosses the link now: its head arrives at `at`.
    void (*go_on)(Fabric& fabric, const Output& output, std::uint32_t channel, Packet& packet, SimTime at) = nullptr;
    // On one-way rings: a packet looks at the first link of the next ring of its way.
    void (*enter_ring)(Fabric& fabric, Packet& packet, SimTime now) = nullptr;
    Route (*unpack)(std::uint64_t way) = nullptr;
    NodeId (*origin)(const Fabric& fabric, const Posted& express) = nullptr;
    WayTable ways;
    TreeWays tree;
  };
  [[nodiscard]] ThroughTraffic through() const;
  template <std::uint32_t kDimensions>
  [[nodiscard]] ThroughTraffic through_of() const;
  [[nodiscard]] ThroughTraffic through_tree() const;
  template <class Ways>
  [[nodiscard]] static NodeId origin_of(const Fabric& fabric, const Posted& express);
  void be_traced(bool traced) override { express_ = may_express_ && through_.carry != nullptr && !traced; }
  [[nodiscard]] bool has_limit() const { return places_ != 0; }
  void send(Output& output, std::uint32_t channel, Packet& packet, SimTime now);
  void look_for_room(Output& output, SimTime now);
  void block(std::uint32_t link, std::uint32_t channel, Packet& packet, SimTime now);
  [[nodiscard]] Shortage& shortage_of(std::uint32_t link, std::uint32_t vertex);
  void retry(Shortage& shortage, SimTime now);
  void look_again(Shortage& shortage, SimTime now);
  void retry_at(Shortage& shortage, SimTime at);
  void set_short(Output& output, bool is_short);
  [[nodiscard]] bool find_room(Output& output, std::uint32_t channel, SimTime now);
  void credit(std::uint32_t input, std::uint32_t channel, SimTime at) override { give(input, channel, at); }
  // Credits come before all other events of the node at an instant.
  [[nodiscard]] static Tie credit_tie(NodeId vertex) { return event_tie(vertex, 0); }
  // Return the credits of a link, as its beginning sees them.
  [[nodiscard]] CreditReturn credits(Output& output);
  void give_back(std::uint32_t input, std::uint32_t channel, SimTime left) {
    if (has_limit()) falls_free(input, channel, left + latency_to(input));
  }
  // Give a buffer back to the link's beginning, on links whose buffers have a limit.
  GASMETER_INLINE void falls_free(std::uint32_t input, std::uint32_t channel, SimTime at) {
    Input& self = inputs_[input];
    if (GASMETER_LIKELY(!self.is_apart && !self.is_awaited && self.given != self.full)) {
      CreditReturn::give(self.given, self.last, self.ring, self.places, at, channel);
    } else if (self.is_apart) {
      give_apart(input, channel, at);
    } else {
      give(input, channel, at);
    }
  }
  void give(std::uint32_t input, std::uint32_t channel, SimTime at);
  // Return the latency of the link that ends there.
  [[nodiscard]] SimTime latency_to(std::uint32_t input) const { return costs_[inputs_[input].link_class].latency; }
  void make_places(std::uint32_t input);
  void forget_ring(std::uint32_t input);
  void give_apart(std::uint32_t input, std::uint32_t channel, SimTime at);
  void credit_awaited(std::uint32_t input, std::uint32_t channel, SimTime at);

  Engine& engine_;
  Topology topology_;
  FabricParameters parameters_;
  FabricSink& sink_;
  std::uint32_t channels_;
  std::uint32_t places_;                     // for all credits that a link may have; 0: buffers have no limit
  std::uint32_t taken_ = 0;                  // buffers that a packet takes: 1 where they have a limit
  std::vector<std::uint32_t> first_output_;  // by vertex
  std::vector<Output> outputs_;              // a link is known by its place here
  std::vector<Input> inputs_;                // an input has the place of the link back, whether that exists or not
  std::array<LinkCost, 2 * kMostLinkClasses> costs_;  // by class, then by slow link
  std::vector<std::uint32_t> buffers_;                // by class
  Action::Run arrival_;                               // function that a packet runs when it arrives
  std::vector<CreditReturn::Word> credits_;           // rings of the size they have at first
  ThroughTraffic through_;
  bool may_express_ = true;
  bool express_ = false;              // whether packets are express now
  std::unique_ptr<Rings> rings_;      // null where links go both ways
  std::unique_ptr<Choices> choices_;  // null where each pair has one way
};

}  // namespace gasmeter::sim
