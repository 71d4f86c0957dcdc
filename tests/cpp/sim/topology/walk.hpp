// Topologies to test, ways through them as a packet takes them, and oracles that know only the wiring.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "gasmeter/base/error.hpp"
#include "gasmeter/sim/topology/topology.hpp"

namespace gasmeter::sim::testing {

inline std::vector<std::string> grids() {
  std::vector<std::string> names;
  for (int n = 1; n <= 9; ++n) names.push_back("ring:" + std::to_string(n));
  for (int n = 1; n <= 9; ++n) names.push_back("oneway-ring:" + std::to_string(n));
  for (const std::string kind : {"mesh", "torus", "oneway-torus"}) {
    for (int x = 1; x <= 4; ++x) {
      for (int y = 1; y <= 4; ++y) {
        const std::string plane = std::to_string(x) + "x" + std::to_string(y);
        names.push_back(kind + "2d:" + plane);
        for (int z = 1; z <= 4; ++z) names.push_back(kind + "3d:" + plane + "x" + std::to_string(z));
      }
    }
  }
  for (const char* name :
       {"mesh2d:7x5", "torus2d:6x5", "torus2d:8x3", "torus3d:5x2x6", "oneway-torus2d:7x5", "oneway-torus3d:5x2x6"})
    names.emplace_back(name);
  return names;
}

inline const std::vector<std::string> kSwitched = {
    "crossbar:1",      "crossbar:2",      "crossbar:7",      "fat-tree:2x1",    "fat-tree:2x2",    "fat-tree:2x3",
    "fat-tree:2x5",    "fat-tree:3x1",    "fat-tree:3x3",    "fat-tree:4x2",    "fat-tree:5x2",    "dragonfly:1x1x1",
    "dragonfly:1x1x4", "dragonfly:1x4x2", "dragonfly:2x1x1", "dragonfly:5x1x2", "dragonfly:2x3x2", "dragonfly:3x2x1",
    "dragonfly:3x4x2", "dragonfly:5x4x1", "dragonfly:5x2x2", "dragonfly:6x2x3", "dragonfly:9x4x2", "dragonfly:8x3x1",
    "xc:1x1x1",        "xc:1x1x3",        "xc:1x3x1",        "xc:1x3x2",        "xc:2x1x1",        "xc:2x2x2",
    "xc:3x1x2",        "xc:3x2x3",        "xc:4x2x1",        "xc:9x1x2",        "xc:14x1x2",
};

inline std::vector<std::string> all_shapes() {
  std::vector<std::string> names = grids();
  names.insert(names.end(), kSwitched.begin(), kSwitched.end());
  return names;
}

template <class Visit>
void for_each_pair(const Topology& topology, const Visit& visit) {
  for (std::uint32_t from = 0; from < topology.terminals(); ++from)
    for (std::uint32_t to = 0; to < topology.terminals(); ++to)
      if (from != to) visit(from, to);
}

// Return the error of a topology's text; empty: none.
inline std::string error_of(const std::string& text) {
  try {
    (void)Topology::parse(text);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

inline bool is_dragonfly(const Topology& topology) {
  return topology.name().starts_with("dragonfly");
}

inline bool is_xc(const Topology& topology) {
  return topology.name().starts_with("xc");
}

struct Step {
  std::uint32_t vertex;
  Hop hop;
};

// Return the steps; empty if the way takes a link that does not exist, or has more hops than there are vertices.
inline std::vector<Step> walk_on(const Topology& topology, std::uint32_t from, std::uint32_t to, Route route) {
  std::vector<Step> steps;
  for (std::uint32_t at = from; at != to;) {
    if (steps.size() > topology.vertices()) return {};
    const Hop hop = topology.next(at, to, route);
    if (hop.port >= topology.ports(at) || hop.channel >= topology.channels()) return {};
    const auto end = topology.neighbour(at, hop.port);
    if (!end) return {};
    steps.push_back({at, hop});
    at = end->vertex;
  }
  return steps;
}

inline std::vector<Step> walk(const Topology& topology, std::uint32_t from, std::uint32_t to, std::uint32_t flow = 0) {
  return walk_on(topology, from, to, topology.route(from, to, flow));
}

// Return the least hops from `from` to every vertex, breadth first.
inline std::vector<std::uint32_t> distances(const Topology& topology, std::uint32_t from) {
  std::vector<std::uint32_t> result(topology.vertices(), UINT32_MAX);
  std::deque<std::uint32_t> open{from};
  result[from] = 0;
  while (!open.empty()) {
    const std::uint32_t at = open.front();
    open.pop_front();
    for (std::uint32_t port = 0; port < topology.ports(at); ++port) {
      const auto end = topology.neighbour(at, port);
      if (!end || result[end->vertex] != UINT32_MAX) continue;
      result[end->vertex] = result[at] + 1;
      open.push_back(end->vertex);
    }
  }
  return result;
}

// Dependencies between channels: a packet holds a channel of a link while it asks for the next one.
class ChannelDependencies {
 public:
  using Channel = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;  // vertex, port, channel

  void add(const std::vector<Step>& way, bool tell_channels_apart = true) {
    for (std::size_t i = 0; i + 1 < way.size(); ++i) {
      const auto channel = [&](const Step& step) {
        return Channel{step.vertex, step.hop.port, tell_channels_apart ? step.hop.channel : 0};
      };
      waits_for_[channel(way[i])].insert(channel(way[i + 1]));
    }
  }

  [[nodiscard]] bool acyclic() const {
    std::map<Channel, std::size_t> waiting;
    for (const auto& [from, all] : waits_for_)
      for (const Channel& to : all) ++waiting[to];
    std::deque<Channel> free;
    for (const auto& [from, all] : waits_for_)
      if (!waiting.contains(from)) free.push_back(from);
    std::size_t removed = 0;
    while (!free.empty()) {
      const Channel at = free.front();
      free.pop_front();
      ++removed;
      const auto wait = waits_for_.find(at);
      if (wait == waits_for_.end()) continue;
      for (const Channel& to : wait->second)
        if (--waiting[to] == 0) free.push_back(to);
    }
    std::set<Channel> all;
    for (const auto& [from, targets] : waits_for_) {
      all.insert(from);
      all.insert(targets.begin(), targets.end());
    }
    return removed == all.size();
  }

 private:
  std::map<Channel, std::set<Channel>> waits_for_;
};

}  // namespace gasmeter::sim::testing
