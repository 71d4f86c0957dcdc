// Links and routers between the terminals of a topology, packet by packet.
//
// A packet's head crosses a link in its latency (router and wire) and may go on at once (cut-through); the link is busy
// while the bytes pass. A router has a buffer of so many packets for each link that ends there and each of its virtual
// channels; a packet is sent only where one is free (credits, which take the wire's way back). In a buffer packets for
// different outputs do not block one another (virtual output queues). An output serves packets in order of arrival; one
// that finds no free buffer at the far end lets those of other channels pass. A packet leaves its buffer with its last
// byte.
//
// What a link takes depends on its class, which the topology tells. On one-way rings each ring of a packet's way is
// followed by an echo over the rest of the ring: fabric_rings.hpp. Unordered packets choose their way where the
// topology has several: fabric_choices.hpp.
//
// As long as buffers are free at the far end, a packet's turn is known when it arrives, and so is all that follows: a
// hop is one event.
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
#include "gasmeter/sim/credit_return.hpp"
#include "gasmeter/sim/engine.hpp"
#include "gasmeter/sim/packet.hpp"
#include "gasmeter/sim/packet_pool.hpp"
#include "gasmeter/sim/shortage.hpp"
#include "gasmeter/sim/topology.hpp"
#include "gasmeter/sim/tree_ways.hpp"
#include "gasmeter/sim/way_table.hpp"

namespace gasmeter::sim {

class StateWalk;

// Of one class of links (Topology::link_classes).
struct LinkParameters {
  std::int64_t per_byte_fs = 0;  // of one direction
  SimTime latency;               // from leaving a router to leaving the next one, if nothing is in the way
  unsigned buffer = 0;           // packets, per link and channel; 0: no limit
};

struct FabricParameters {
  explicit FabricParameters(const LinkParameters& all) : links(all) {}

  LinkParameters links;                           // of all classes that are not named below
  std::map<std::string, LinkParameters> classes;  // those of other links, by class

  // Of one-way rings, which have to have an echo.
  std::uint16_t echo = 0;  // bytes of what goes on to where a packet has entered its ring when it is all there
  SimTime turn;            // from there to its first look at the link of its next ring
};

// What a network does at the terminals. Called on the terminal's node.
class FabricSink {
 public:
  // The packet's head is there; its last byte comes at packet.tail. Returns when the packet has left the router's
  // buffer, not before that. The packet is the sink's.
  virtual SimTime arrived(Packet& packet, SimTime now) = 0;
  // A watched packet leaves its first vertex; its last byte has left at `end`.
  virtual void departed(Packet& packet, SimTime end) = 0;

  // On one-way rings: the head of an echo is back at `echo.to`, where a packet entered a ring that it left at
  // `echo.from`. `echo.kind` is the packet's. Echoes of one ring's end come in the order of the packets.
  virtual void echoed(const Packet& echo, SimTime now);

 protected:
  FabricSink() = default;
  FabricSink(const FabricSink&) = default;
  FabricSink& operator=(const FabricSink&) = default;
  ~FabricSink() = default;
};

// What one direction of a link has carried.
struct LinkUse {
  std::uint32_t vertex = 0;
  std::uint32_t port = 0;
  std::uint32_t to = 0;
  std::uint64_t packets = 0;
  std::uint64_t bytes = 0;
  SimTime busy;
  SimTime longest_wait;       // of a packet for the link, free buffers apart
  std::uint64_t blocked = 0;  // packets that found no free buffer
};

// Made for one engine, whose nodes are the vertices of the topology; the engine outlives it.
class Fabric : private Wiring {
 public:
  // Throws UsageError where the engine has other nodes than the topology vertices, for negative costs, for classes that
  // the topology does not have or that are limited in part, and for one-way rings without an echo.
  Fabric(Engine& engine, Topology topology, const FabricParameters& parameters, FabricSink& sink);
  // Links of one class, used both ways.
  Fabric(Engine& engine, Topology topology, const LinkParameters& links, FabricSink& sink);
  Fabric(const Fabric&) = delete;
  Fabric& operator=(const Fabric&) = delete;
  ~Fabric();

  [[nodiscard]] const Topology& topology() const { return topology_; }
  // Of the links whose class is not named.
  [[nodiscard]] const LinkParameters& links() const { return parameters_.links; }
  [[nodiscard]] Engine& engine() const { return engine_; }
  [[nodiscard]] FabricSink& sink() const { return sink_; }
  [[nodiscard]] SimTime on_wire(Bytes bytes) const { return LinkCost{links().per_byte_fs, {}}.on_wire(bytes); }

  // `packet` (from, to, bytes, kind, watched filled in) enters the router of its terminal now, with all its bytes. The
  // first router's queue has no limit: a NIC that wants one watches its packets. To itself: it arrives at once. A rank
  // that injects is synchronised first; `now` is its clock. Packets of one flow between the same two terminals stay in
  // order, those of different ones may take different ways where there are several, and kUnordered ones any.
  void inject(Packet& packet, SimTime now, std::uint32_t flow = 0);

  // Since the last reset, of every link that exists.
  [[nodiscard]] std::vector<LinkUse> use() const;
  void reset_use();

  // --- for a network's SteadyTraffic
  // Adds the links of a packet's way. False: it passes links whose traffic does not come round (one-way rings), or
  // which ones it passes is not known.
  [[nodiscard]] bool add_way(std::uint32_t from, std::uint32_t to, std::vector<std::uint32_t>& links,
                             std::uint32_t flow = 0) const;
  // The state of a link, as who is between two events of the whole fabric sees it. `packet` sees to what is the
  // network's own of those that wait for a buffer.
  void walk(std::uint32_t link, StateWalk& walk, const std::function<void(Packet&)>& packet);
  // Of a packet that goes over links.
  void walk(const Posted& entry, StateWalk& walk) const;
  [[nodiscard]] bool is_packet(const Posted& entry) const {
    return entry.is_express() || entry.action->is() == arrival_;
  }
  // Which link looks for buffers then; kNoLink: it is something else.
  [[nodiscard]] std::uint32_t link_of_retry(const Posted& entry) const {
    const bool is_retry = !entry.is_express() && entry.action->is() == &Fabric::on_retry;
    return is_retry ? static_cast<const Shortage*>(entry.action)->link : kNoLink;
  }

  // Tells a tracer what the fabric's events are.
  void name_steps(Tracer& tracer) const;
  // From now on packets are actions wherever they come, for tests that follow them; nothing comes express.
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

  // Of a class, what a hop takes from it.
  struct LinkCost {
    std::int64_t per_byte_fs = 0;
    SimTime latency;
    bool operator==(const LinkCost&) const = default;
    [[nodiscard]] SimTime on_wire(Bytes bytes) const { return SimTime::of_bytes(per_byte_fs, bytes); }
  };
  // The end of a link, at the vertex where that is, known by the port there: half a line.
  struct Input {
    CreditReturn::Word last = 0;         // credit
    CreditReturn::Word* ring = nullptr;  // of credits
    std::uint32_t places = 0;            // in it
    CreditReturn::Count given = 0;
    CreditReturn::Count full = 0;  // `given` where there may be no place for the next one
    std::uint8_t link_class = 0;   // what the end tells its beginning takes that latency
    bool is_awaited = false;       // packets wait for buffers: each that falls free is to be told of
    bool is_apart = false;         // the link begins on a node that another thread may run, whose is all else here
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
  // When something crosses a link: its head begins, its last byte has left.
  struct Crossing {
    SimTime start;
    SimTime end;
  };
  [[nodiscard]] Crossing cross(Output& output, const LinkCost& cost, std::uint32_t channel, Bytes bytes, SimTime now,
                               const SimTime* tail);
  [[nodiscard]] std::uint32_t far_end(const Output& output) const;
  [[nodiscard]] NodeId origin(const Posted& express) const override;
  void carry_one(Partition& here, const Posted& express) override { through_.carry_one(*this, here, express); }
  // How what comes express is carried on grids of so many dimensions and in trees; all null where it is not.
  struct ThroughTraffic {
    Wiring::Carry carry = nullptr;
    void (*carry_one)(Fabric& fabric, Partition& here, const Posted& express) = nullptr;
    void (*inject)(Fabric& fabric, Packet& packet, SimTime now) = nullptr;
    // Of a packet that has waited, and now crosses the link: its head is there at `at`.
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
  // Credits come before all else that the node itself has to do at the instant, whoever tells of them.
  [[nodiscard]] static Tie credit_tie(NodeId vertex) { return event_tie(vertex, 0); }
  // Of a link, as its beginning sees them.
  [[nodiscard]] CreditReturn credits(Output& output);
  void give_back(std::uint32_t input, std::uint32_t channel, SimTime left) {
    if (has_limit()) falls_free(input, channel, left + latency_to(input));
  }
  // A buffer, for the link's beginning; of links whose buffers have a limit.
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
  // Of the link that ends there.
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
  std::uint32_t places_;                              // for all credits that a link may have; 0: buffers have no limit
  std::uint32_t taken_ = 0;                           // buffers by a packet, that is 1 where they have a limit
  std::vector<std::uint32_t> first_output_;           // of each vertex
  std::vector<Output> outputs_;                       // a link is known by its place here
  std::vector<Input> inputs_;                         // known by the place of the link back, whether that exists or not
  std::array<LinkCost, 2 * kMostLinkClasses> costs_;  // of classes, then of slow links
  std::vector<std::uint32_t> buffers_;                // of each class
  Action::Run arrival_;                               // of packets
  std::vector<CreditReturn::Word> credits_;           // rings as they are at first
  ThroughTraffic through_;
  bool may_express_ = true;
  bool express_ = false;              // now
  std::unique_ptr<Rings> rings_;      // null where links go both ways
  std::unique_ptr<Choices> choices_;  // null where each pair has one way
};

}  // namespace gasmeter::sim
