// Express packets, on grids and in trees of small switches: the entry of a window carries the way. Nobody touches the
// packet before its way ends, unless it has to wait for a buffer.
#include <algorithm>
#include <utility>

#include "gasmeter/sim/fabric/fabric_rings.hpp"
#include "gasmeter/sim/fabric/fabric_state.hpp"

namespace gasmeter::sim {

// Ways of a grid of so many dimensions, packed in a word, and the places of its links.
template <std::uint32_t kDimensions>
struct Fabric::OnGrid {
  using Code = WayCode<kDimensions>;

  static GASMETER_INLINE std::uint32_t first(const Fabric& /*fabric*/, std::uint32_t vertex) {
    return vertex * 2 * kDimensions;
  }
  static GASMETER_INLINE std::uint32_t port(Express express) { return express.port(); }
  static GASMETER_INLINE std::uint32_t channel(Express express) { return express.channel(); }
  static GASMETER_INLINE std::uint64_t way(const Fabric& fabric, std::uint32_t from, std::uint32_t to) {
    return GASMETER_LIKELY(!fabric.through_.ways.empty()) ? fabric.through_.ways.way(from, to)
                                                          : Code::pack(fabric.topology_.route(from, to));
  }
  // Pack the rest of the way of a packet that was an action when it came, and goes on as an express packet.
  static std::uint64_t left(const Fabric& /*fabric*/, const Output& /*output*/, const Packet& packet) {
    return Code::pack(packet.route);
  }
  static Route unpack(std::uint64_t way) { return Code::unpack(way); }
};

// The same for a tree, which needs no route: each switch knows the way to each terminal.
struct Fabric::InTree {
  using Code = TreeCode;

  static GASMETER_INLINE std::uint32_t first(const Fabric& fabric, std::uint32_t vertex) {
    return fabric.first_output_[vertex];
  }
  static GASMETER_INLINE std::uint32_t port(Express express) { return express.whole_port(); }
  static GASMETER_INLINE std::uint32_t channel(Express /*express*/) { return 0; }
  static GASMETER_INLINE std::uint64_t way(const Fabric& fabric, std::uint32_t from, std::uint32_t to) {
    return fabric.through_.tree.way(from, to);
  }
  static std::uint64_t left(const Fabric& fabric, const Output& output, const Packet& packet) {
    return TreeWays::walk(*fabric.topology_.tree(), output.to, packet.to);
  }
  static Route unpack(std::uint64_t /*way*/) { return {}; }
};

template <class Ways>
class Fabric::Through {
 public:
  // Carry express packets on the running node, one after the other, until something else is next there or until
  // `until`.
  static void carry(Wiring& wiring, Partition& partition, SimTime until) {
    auto& fabric = static_cast<Fabric&>(wiring);
    const bool limited = fabric.has_limit();
    const bool express = fabric.express_;
    const SimTime window = partition.open_begin();
    do {
      const Posted& entry = partition.take_express(window);
      fetch(fabric, partition.soon(entry));
      if (GASMETER_LIKELY(express && Express(entry.express).goes_on())) {
        cross(fabric, partition, entry, window + SimTime{entry.offset()}, limited);
      } else {
        end(fabric, partition, entry);
      }
    } while (partition.express_is_next(window, until));
    partition.latest = partition.now;
  }

  static void carry_one(Fabric& fabric, Partition& partition, const Posted& entry) {
    if (fabric.express_ && Express(entry.express).goes_on()) {
      cross(fabric, partition, entry, partition.now, fabric.has_limit());
    } else {
      end(fabric, partition, entry);
    }
  }

  static void inject(Fabric& fabric, Packet& packet, SimTime now) {
    const std::uint64_t way = Ways::way(fabric, packet.from, packet.to);
    const Hop hop = Code::hop(way);
    const std::uint32_t link = Ways::first(fabric, packet.from) + hop.port;
    Output& output = fabric.outputs_[link];
    if (GASMETER_LIKELY(output.room[hop.channel] != 0 || fabric.find_room(output, hop.channel, now))) {
      Action* const what = Posted::with_bytes(packet, packet.bytes);
      const SimTime end = cross(fabric, fabric.engine_.partition(NodeId{packet.from}), output, hop.channel, what,
                                packet.bytes, way, now);
      if (packet.watched) fabric.sink_.departed(packet, end);
    } else {
      packet.tail = now;
      packet.vertex = packet.from;
      packet.link = kNoLink;
      packet.channel = 0;
      packet.route = Route::of_code(Code::behind(way));
      fabric.block(link, hop.channel, packet, now);
    }
  }

  static void go_on(Fabric& fabric, const Output& output, std::uint32_t channel, Packet& packet, SimTime at) {
    fabric.engine_.partition(NodeId{packet.vertex})
        .send(NodeId{output.to}, at, Posted::with_bytes(packet, packet.bytes),
              Express(output.far_port, channel,
                      packet.route.is_code() ? packet.route.code() : Ways::left(fabric, output, packet)));
  }

  // Send a packet into its next ring. Its express way ends with the ring, where the packet is touched again.
  static void enter_ring(Fabric& fabric, Packet& packet, SimTime now) {
    const std::uint64_t way = GASMETER_LIKELY(!fabric.through_.ways.empty())
                                  ? fabric.through_.ways.first_part(packet.vertex, packet.to)
                                  : Code::pack(fabric.topology_.route(packet.vertex, packet.to).first_part());
    const Hop hop = Code::hop(way);
    const std::uint32_t link = Ways::first(fabric, packet.vertex) + hop.port;
    Output& output = fabric.outputs_[link];
    if (GASMETER_UNLIKELY(output.room[hop.channel] == 0 && !fabric.find_room(output, hop.channel, now))) {
      packet.route = Route::of_code(Code::behind(way));
      fabric.block(link, hop.channel, packet, now);
      return;
    }
    const SimTime end = cross(fabric, fabric.engine_.partition(NodeId{packet.vertex}), output, hop.channel,
                              Posted::with_bytes(packet, packet.bytes), packet.bytes, way, now);
    if (packet.link != kNoLink) {
      fabric.give_back(packet.link, packet.channel, end);
    } else if (packet.watched) {
      fabric.sink_.departed(packet, end);
    }
  }

 private:
  using Code = typename Ways::Code;

  static GASMETER_INLINE void cross(Fabric& fabric, Partition& partition, const Posted& entry, SimTime now,
                                    bool limited) {
    const Express express(entry.express);
    const std::uint64_t way = express.way();
    const Hop hop = Code::hop(way);
    const std::uint32_t first = Ways::first(fabric, entry.node());
    Output& output = fabric.outputs_[first + hop.port];
    if (GASMETER_LIKELY(output.room[hop.channel] != 0 || fabric.find_room(output, hop.channel, now))) {
      const SimTime end = cross(fabric, partition, output, hop.channel, entry.action, entry.bytes(), way, now);
      if (!limited) return;
      fabric.falls_free(first + Ways::port(express), Ways::channel(express), end + fabric.costs_[0].latency);
    } else {
      wait_for_room(fabric, partition, entry);
    }
  }

  // Cross to the next node; return when the last byte has left.
  static GASMETER_INLINE SimTime cross(Fabric& fabric, Partition& partition, Output& output, std::uint32_t channel,
                                       Action* what, std::uint16_t bytes, std::uint64_t way, SimTime now) {
    const LinkCost& cost = fabric.costs_[0];
    const Crossing crossing = fabric.cross(output, cost, channel, bytes, now, nullptr);
    partition.send(NodeId{output.to}, crossing.start + cost.latency, what,
                   Express(output.far_port, channel, Code::behind(way)));
    return crossing.end;
  }

  // End the express way of a packet: it has arrived, or must be touched on its way.
  static GASMETER_NOINLINE void end(Fabric& fabric, Partition& partition, const Posted& entry) {
    partition.latest = partition.now;
    const Express express(entry.express);
    // The next call may take more entries of the window.
    const std::uint32_t input = Ways::first(fabric, entry.node()) + Ways::port(express);
    Packet& packet = set_down(fabric, entry, partition.now);
    if (GASMETER_LIKELY(fabric.express_ && packet.is() == fabric.arrival_ && !fabric.rings_)) {
      const SimTime left = fabric.sink_.arrived(packet, partition.now);
      if (fabric.has_limit()) fabric.falls_free(input, Ways::channel(express), left + fabric.costs_[0].latency);
      return;
    }
    packet.route = Ways::unpack(express.way());
    partition.now_tie = express_tie(NodeId{fabric.outputs_[packet.link].to});
    packet(partition.now);
  }

  static GASMETER_NOINLINE void wait_for_room(Fabric& fabric, Partition& partition, const Posted& entry) {
    const std::uint64_t way = Express(entry.express).way();
    const Action::Run next = entry.carried()->is();
    if (next != fabric.arrival_ && next != &Rings::on_echo) return end(fabric, partition, entry);
    Packet& packet = set_down(fabric, entry, partition.now);
    packet.route = Route::of_code(Code::behind(way));
    const Hop hop = Code::hop(way);
    fabric.block(Ways::first(fabric, packet.vertex) + hop.port, hop.channel, packet, partition.now);
  }

  // Prefetch what happens soon: its memory has been untouched for a while.
  static GASMETER_INLINE void fetch(const Fabric& fabric, const Posted& entry) {
    if (GASMETER_UNLIKELY(!entry.is_express())) return prefetch_read(entry.action);
    const Express express(entry.express);
    const std::uint32_t first = Ways::first(fabric, entry.node());
    const void* const output = &fabric.outputs_[first + Code::hop(express.way()).port];
    prefetch_write(express.goes_on() ? output : entry.carried());
    prefetch_write(&fabric.inputs_[first + Ways::port(express)]);
  }

  // Make an express packet an action at its vertex: it waits there, is touched there, or has arrived.
  static GASMETER_INLINE Packet& set_down(const Fabric& fabric, const Posted& entry, SimTime now) {
    const Express express(entry.express);
    auto& packet = static_cast<Packet&>(*entry.carried());
    packet.link = Ways::first(fabric, entry.node()) + Ways::port(express);
    packet.channel = static_cast<std::uint8_t>(Ways::channel(express));
    packet.vertex = entry.node();
    packet.tail = now + fabric.costs_[0].on_wire(entry.bytes());
    return packet;
  }
};

template <std::uint32_t kDimensions>
Fabric::ThroughTraffic Fabric::through_of() const {
  const auto is_held = [this](std::uint32_t extent) {  // if one dimension wraps, all do
    return WayCode<kDimensions>::holds(channels_ > 1 && !rings_ ? extent / 2 : extent - 1);
  };
  const auto extents = topology_.extents();
  if (!std::all_of(extents.begin(), extents.end(), is_held)) return {};
  using Ways = OnGrid<kDimensions>;
  using Of = Through<Ways>;
  return {&Of::carry,
          &Of::carry_one,
          &Of::inject,
          &Of::go_on,
          &Of::enter_ring,
          &Ways::unpack,
          &origin_of<Ways>,
          WayTable::of<kDimensions>(topology_),
          {}};
}

Fabric::ThroughTraffic Fabric::through_tree() const {
  TreeWays ways(*topology_.tree());
  if (ways.empty()) return {};
  using Of = Through<InTree>;
  return {&Of::carry,      &Of::carry_one,     &Of::inject, &Of::go_on,     nullptr,
          &InTree::unpack, &origin_of<InTree>, {},          std::move(ways)};
}

// Choose the functions for express packets; none where they cannot be used. Behind a slower link the last byte is not a
// fixed time behind the head. Links that carry several packets at one instant would need an order among them.
Fabric::ThroughTraffic Fabric::through() const {
  if (!all_cost_the_same() || costs_[0].on_wire(1).ps == 0) return {};
  if (topology_.has_dead_links()) return {};
  if (topology_.tree() != nullptr) return through_tree();
  switch (topology_.extents().size()) {
    case 1:
      return through_of<1>();
    case 2:
      return through_of<2>();
    case 3:
      return through_of<3>();
    default:
      return {};
  }
}

template <class Ways>
NodeId Fabric::origin_of(const Fabric& fabric, const Posted& express) {
  const std::uint32_t input = Ways::first(fabric, express.node()) + Ways::port(Express(express.express));
  return NodeId{fabric.outputs_[input].to};
}

NodeId Fabric::origin(const Posted& express) const {
  return through_.origin(*this, express);
}

}  // namespace gasmeter::sim
