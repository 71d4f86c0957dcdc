// What comes express, on grids: the entry of a window carries the way, and nobody touches the packet before that ends,
// unless it has to wait for a buffer.
#include <algorithm>

#include "gasmeter/sim/fabric_state.hpp"

namespace gasmeter::sim {

template <std::uint32_t kDimensions>
class Fabric::Through {
 public:
  static void carry(Wiring& wiring, Partition& here, const Posted& entry, const Posted& ahead, SimTime now) {
    auto& fabric = static_cast<Fabric&>(wiring);
    if (GASMETER_LIKELY(ahead.is_express())) fetch(fabric, ahead);
    const Express express(entry.express);
    if (GASMETER_LIKELY(express.goes_on() && fabric.express_)) {
      const Hop hop = express.hop();
      const std::uint32_t first = entry.node() * kPorts;
      Output& output = fabric.outputs_[first + hop.port];
      if (GASMETER_LIKELY(output.room[hop.channel] != 0 || fabric.find_room(output, hop.channel, now))) {
        const SimTime end = cross(fabric, here, output, hop.channel, *entry.action, express, now);
        fabric.give_back(first + express.port(), express.channel(), end);
        return;
      }
      if (entry.action->is() == fabric.arrival_) {
        Packet& packet = set_down(fabric, entry, now);
        packet.route = Code::unpack(express.way());
        fabric.block(first + hop.port, hop.channel, packet, now);
        return;
      }
    }
    Packet& packet = set_down(fabric, entry, now);
    if (express.goes_on()) {
      std::uint64_t way = express.way();
      Code::put_back(way, express.hop());
      packet.route = Code::unpack(way);
    }
    here.now_tie = express_tie(NodeId{fabric.outputs_[packet.link].to});
    packet(now);
  }

  static void inject(Fabric& fabric, Packet& packet, SimTime now) {
    std::uint64_t way = GASMETER_LIKELY(!fabric.through_.ways.empty())
                            ? fabric.through_.ways.way(packet.from, packet.to)
                            : Code::pack(fabric.topology_.route(packet.from, packet.to));
    const Hop hop = Code::next(way);
    const std::uint32_t link = packet.from * kPorts + hop.port;
    Output& output = fabric.outputs_[link];
    if (GASMETER_LIKELY(output.room[hop.channel] != 0 || fabric.find_room(output, hop.channel, now))) {
      const SimTime end = cross(fabric, fabric.engine_.partition(NodeId{packet.from}), output, hop.channel, packet,
                                Express(0, 0, hop, way, packet.bytes), now);
      if (packet.watched) fabric.tell_departed(packet, end);
    } else {
      packet.route = Code::unpack(way);
      fabric.block(link, hop.channel, packet, now);
    }
  }

  static void go_on(Fabric& fabric, const Output& output, std::uint32_t channel, Packet& packet, SimTime at) {
    std::uint64_t way = Code::pack(packet.route);
    const Hop hop = next(way);
    fabric.engine_.partition(NodeId{packet.vertex})
        .send(NodeId{output.to}, at, packet, Express(output.far_port, channel, hop, way, packet.bytes));
  }

 private:
  using Code = WayCode<kDimensions>;
  static constexpr std::uint32_t kPorts = 2 * kDimensions;

  [[nodiscard]] static Hop next(std::uint64_t& way) { return Code::goes_on(way) ? Code::next(way) : Express::kEnd; }

  // To the next node. When its last byte has left.
  static GASMETER_INLINE SimTime cross(Fabric& fabric, Partition& here, Output& output, std::uint32_t channel,
                                       Action& what, Express express, SimTime now) {
    const LinkCost& cost = fabric.costs_[0];
    const Crossing crossing = fabric.cross(output, cost, channel, express.bytes(), now, now);
    std::uint64_t way = express.way();
    const Hop hop = next(way);
    here.send(NodeId{output.to}, crossing.start + cost.latency, what, express.over(output.far_port, channel, hop, way));
    return crossing.end;
  }

  // What happens soon is in memory that nobody has touched for a while.
  static GASMETER_INLINE void fetch(const Fabric& fabric, const Posted& entry) {
    const Express express(entry.express);
    const std::uint32_t first = entry.node() * kPorts;
    const void* const output = &fabric.outputs_[first + express.hop().port];
    prefetch_write(express.goes_on() ? output : entry.action);
    prefetch_write(&fabric.inputs_[first + express.port()]);
  }

  // As a packet that has come to where it is: it waits there, is to be seen there, or has arrived.
  static GASMETER_INLINE Packet& set_down(const Fabric& fabric, const Posted& entry, SimTime now) {
    const Express express(entry.express);
    auto& packet = static_cast<Packet&>(*entry.action);
    packet.link = entry.node() * kPorts + express.port();
    packet.channel = static_cast<std::uint8_t>(express.channel());
    packet.vertex = entry.node();
    packet.tail = now + fabric.costs_[0].on_wire(express.bytes());
    return packet;
  }
};

template <std::uint32_t kDimensions>
Fabric::ThroughTraffic Fabric::through_of() const {
  const auto is_held = [this](std::uint32_t extent) {  // where one dimension wraps all do
    return WayCode<kDimensions>::holds(channels_ > 1 ? extent / 2 : extent - 1);
  };
  const auto extents = topology_.extents();
  if (!std::all_of(extents.begin(), extents.end(), is_held)) return {};
  using Of = Through<kDimensions>;
  return {&Of::carry, &Of::inject, &Of::go_on, WayTable::of<kDimensions>(topology_)};
}

// Where a train or a slower link may be in front, the last byte is not simply so long behind the head. Links of which
// several packets come at one instant would need to be told which one is first.
Fabric::ThroughTraffic Fabric::through() const {
  if (rings_ || !all_cost_the_same() || parameters_.links.trains || costs_[0].on_wire(1).ps == 0) return {};
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

NodeId Fabric::origin(const Posted& express) const {
  return NodeId{outputs_[express.node() * ports_ + Express(express.express).port()].to};
}

}  // namespace gasmeter::sim
