// Records every crossing of every link from outside, and checks a fabric's promises about its links on the list.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <utility>
#include <vector>

#include "gasmeter/sim/fabric/fabric.hpp"

namespace gasmeter::sim::testing {

class Trace;

struct TestPacket : Packet {
  std::uint32_t sender = 0;    // ranks
  std::uint32_t receiver = 0;  //
  std::uint32_t number = 0;    // a number of the test's choice
  // Members of the trace:
  Trace* trace = nullptr;
  Run run = nullptr;
  SimTime ready;  // when its head came to its current vertex
  std::uint32_t held_link = kNoLink;
  std::uint32_t held_channel = 0;
};

class Trace {
 public:
  struct Crossing {
    SimTime ready;  // the head is at the near end
    SimTime start;
    SimTime end;  // the last byte has left
    std::uint64_t bytes;
    std::uint32_t link;  // as in Packet::link
    std::uint32_t channel;
  };

  explicit Trace(const Fabric& fabric) : fabric_(fabric), nodes_(fabric.topology().vertices()) {}

  // Follow a packet for another terminal. Called right after inject(), so that the trace sees it before the fabric
  // does.
  void follow(TestPacket& packet, SimTime now) {
    packet.trace = this;
    packet.ready = now;
    packet.held_link = kNoLink;
    std::memcpy(&packet.run, static_cast<const Action*>(&packet), sizeof packet.run);
    packet.becomes(&Trace::on_visit);
  }
  // `left`: the result of arrived() for the packet.
  void deliver(const TestPacket& packet, SimTime left) {
    nodes_[packet.vertex].leavings.push_back({packet.link, packet.channel, left});
  }

  // Check what holds on every link, whatever the traffic. Violations are counted, as links are many.
  void check() const {
    const std::uint64_t buffer = fabric_.links().buffer;
    const SimTime latency = fabric_.links().latency;
    const auto left = leavings();
    std::map<std::uint32_t, LinkUse> use = use_by_link();
    int early = 0;       // began before the head had come or the link was free
    int idle = 0;        // the link waited for nothing
    int overfilled = 0;  // began without a free buffer
    int out_of_turn = 0;
    int wrong_length = 0;
    int wrong_use = 0;
    for (const auto& [link, list] : crossings()) {
      SimTime free;
      SimTime last_turn;
      SimTime longest_wait;
      std::map<std::uint32_t, std::uint64_t> sent;  // by channel
      std::map<std::uint32_t, SimTime> turn_in_channel;
      std::uint64_t bytes = 0;
      std::uint64_t blocked = 0;        // certainly blocked
      std::uint64_t maybe_blocked = 0;  // a buffer came at the packet's instant: the link may see either first
      for (const Crossing& each : list) {
        const std::uint64_t before = sent[each.channel]++;
        SimTime room = turn_in_channel[each.channel];
        if (buffer != 0 && before >= buffer) {
          // Buffers are alike: the n-th that falls free makes room for packet n + buffer.
          const SimTime credit = left.at({link, each.channel})[before - buffer] + latency;
          if (each.start < credit) ++overfilled;
          room = std::max(room, credit);
        }
        if (room > each.ready) ++blocked;
        if (room == each.ready && buffer != 0) ++maybe_blocked;
        const SimTime turn = std::max(each.ready, room);
        turn_in_channel[each.channel] = turn;
        if (each.start < each.ready || each.start < free) ++early;
        if (each.start > std::max(turn, free)) ++idle;
        if (turn < last_turn) ++out_of_turn;
        if (each.end - each.start != fabric_.on_wire(each.bytes)) ++wrong_length;
        last_turn = turn;
        free = each.end;
        longest_wait = std::max(longest_wait, each.start - turn);
        bytes += each.bytes;
      }
      const LinkUse& counted = use[link];
      if (counted.packets != list.size() || counted.bytes != bytes || counted.busy != fabric_.on_wire(bytes) ||
          counted.longest_wait != longest_wait || counted.blocked < blocked ||
          counted.blocked > blocked + maybe_blocked) {
        ++wrong_use;
      }
      use.erase(link);
    }
    for (const auto& [link, unused] : use) {
      if (unused.packets != 0 || unused.bytes != 0 || unused.busy.ps != 0 || unused.blocked != 0) ++wrong_use;
    }
    CHECK(early == 0);
    CHECK(idle == 0);
    CHECK(overfilled == 0);
    CHECK(out_of_turn == 0);
    CHECK(wrong_length == 0);
    CHECK(wrong_use == 0);
  }

  // Return the crossings of all links, in the order of their starts.
  [[nodiscard]] std::map<std::uint32_t, std::vector<Crossing>> crossings() const {
    std::map<std::uint32_t, std::vector<Crossing>> result;
    for (const Node& node : nodes_) {
      for (const Crossing& each : node.crossings) result[each.link].push_back(each);
    }
    for (auto& [link, list] : result) {
      std::sort(list.begin(), list.end(), [](const Crossing& a, const Crossing& b) { return a.start < b.start; });
    }
    return result;
  }

 private:
  struct Leaving {
    std::uint32_t link;
    std::uint32_t channel;
    SimTime at;
  };
  struct Node {
    std::vector<Crossing> crossings;  // crossings that ended here
    std::vector<Leaving> leavings;    // buffers that fell free, as told to the trace
  };

  static void on_visit(Action& action, SimTime now) {
    auto& packet = static_cast<TestPacket&>(action);
    packet.trace->visit(packet, now);
    packet.run(action, now);
  }
  void visit(TestPacket& packet, SimTime now) {
    Node& node = nodes_[packet.vertex];
    const SimTime latency = fabric_.links().latency;
    const SimTime end = packet.tail - latency;
    node.crossings.push_back({packet.ready, now - latency, end, packet.bytes, packet.link, packet.channel});
    if (packet.held_link != kNoLink) node.leavings.push_back({packet.held_link, packet.held_channel, end});
    packet.ready = now;
    packet.held_link = packet.link;
    packet.held_channel = packet.channel;
  }

  // Return when buffers fell free, by link and channel.
  [[nodiscard]] std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<SimTime>> leavings() const {
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<SimTime>> result;
    for (const Node& node : nodes_) {
      for (const Leaving& each : node.leavings) result[{each.link, each.channel}].push_back(each.at);
    }
    for (auto& [place, list] : result) std::sort(list.begin(), list.end());
    return result;
  }
  [[nodiscard]] std::map<std::uint32_t, LinkUse> use_by_link() const {
    const Topology& topology = fabric_.topology();
    std::vector<std::uint32_t> first(topology.vertices() + 1);
    for (std::uint32_t v = 0; v < topology.vertices(); ++v) first[v + 1] = first[v] + topology.ports(v);
    std::map<std::uint32_t, LinkUse> result;
    for (const LinkUse& each : fabric_.use()) {
      const auto end = topology.neighbour(each.vertex, each.port);
      result[first[end->vertex] + end->port] = each;
    }
    return result;
  }

  const Fabric& fabric_;
  std::vector<Node> nodes_;  // each is written only on its own node
};

}  // namespace gasmeter::sim::testing
