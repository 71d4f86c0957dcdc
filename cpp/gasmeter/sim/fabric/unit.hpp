// Building blocks of a modelled card's units. A unit belongs to a node and is touched only there.
#pragma once

#include <algorithm>

#include "gasmeter/base/units.hpp"
#include "gasmeter/sim/action.hpp"
#include "gasmeter/sim/engine/engine.hpp"
#include "gasmeter/sim/engine/steady.hpp"
#include "gasmeter/sim/fabric/packet.hpp"

namespace gasmeter::sim {

// A server that does one thing after the other, in order of arrival.
class FifoServer {
 public:
  // Serve `work` that arrives at `ready`; return when it is done.
  SimTime serve(SimTime ready, SimTime work) {
    free_ = std::max(ready, free_) + work;
    return free_;
  }
  // Return when all work so far is done.
  [[nodiscard]] SimTime free() const { return free_; }
  void walk(StateWalk& walk) { walk.free_from(free_); }

 private:
  SimTime free_;
};

// Packets on their way through a unit: each comes out at its own time, none before one that went in earlier.
// Owner::*Out(packet, now) takes it.
template <class Packet, class Owner, void (Owner::*Out)(Packet&, SimTime)>
class Pipeline : private Action {
 public:
  Pipeline(Engine& engine, NodeId node, Owner& owner)
      : Action(&Pipeline::on_due), engine_(engine), node_(node), owner_(owner) {}

  void push(Packet& packet, SimTime due) {
    last_ = std::max(last_, due);
    packet.tail = last_;
    const bool first = inside_.empty();
    inside_.push(&packet);
    if (first) engine_.post(node_, node_, last_, *this);
  }
  [[nodiscard]] bool empty() const { return inside_.empty(); }
  // Return the event in which the first packet comes out.
  [[nodiscard]] const Action& action() const { return *this; }
  // Visit the pipeline; each(packet) visits the packet's own state.
  template <class Each>
  void walk(StateWalk& walk, Each&& each) {
    walk.free_from(last_);
    for (Action* inside = inside_.front(); inside != nullptr; inside = inside->next) {
      auto& packet = static_cast<Packet&>(*inside);
      walk.due(packet.tail);
      each(packet);
    }
    walk.word(0);  // marks the end
  }

 private:
  static void on_due(Action& action, SimTime now) {
    auto& self = static_cast<Pipeline&>(action);
    auto& packet = static_cast<Packet&>(*self.inside_.pop());
    if (!self.inside_.empty()) self.engine_.post(self.node_, self.node_, self.inside_.front()->tail, self);
    (self.owner_.*Out)(packet, now);
  }

  Engine& engine_;
  NodeId node_;
  Owner& owner_;
  SimTime last_;
  PacketQueue inside_;
};

}  // namespace gasmeter::sim
