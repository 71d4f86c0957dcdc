#include "gasmeter/sim/topology/detours.hpp"

#include <algorithm>
#include <array>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "gasmeter/base/error.hpp"

namespace gasmeter::sim {

namespace {

// Route of a way that steps aside: up to which vertex in channel 0, up to which vertex in channel 1 (the rest is in
// channel 0), and how far the packet has come. No way by legs has such a third word.
constexpr std::uint32_t kAside = 0xfffffff0U;

bool steps_aside(const Route& route) {
  return (route.legs[2] & kAside) == kAside;
}

// Take the next hop by dimension order, not over a wrap link.
Hop straight_on(const Grid& grid, std::uint32_t vertex, std::uint32_t to, std::uint32_t channel) {
  const Grid::Coordinates& place = grid.coordinates()[vertex];
  const Grid::Coordinates& goal = grid.coordinates()[to];
  std::uint32_t dimension = 0;
  while (place[dimension] == goal[dimension]) ++dimension;
  return {2 * dimension + (goal[dimension] < place[dimension] ? 1U : 0U), channel};
}

// Count the links between two vertices, not over a wrap link.
std::uint32_t lines(const Grid& grid, std::uint32_t from, std::uint32_t to) {
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    const std::uint32_t a = grid.coordinates()[from][i];
    const std::uint32_t b = grid.coordinates()[to][i];
    sum += a < b ? b - a : a - b;
  }
  return sum;
}

bool by_place(const LinkEnd& a, const LinkEnd& b) {
  return std::tie(a.vertex, a.port) < std::tie(b.vertex, b.port);
}

// Write a list as "1, 2, 3 and 7 more".
std::string few(const std::vector<std::uint32_t>& numbers) {
  constexpr std::size_t kShown = 5;
  std::string text;
  for (std::size_t i = 0; i < std::min(numbers.size(), kShown); ++i) {
    text += (i == 0 ? "" : ", ") + std::to_string(numbers[i]);
  }
  if (numbers.size() > kShown) text += " and " + std::to_string(numbers.size() - kShown) + " more";
  return text;
}

// Visit the channels that a packet may ask for, by any usual way, while it holds a channel of a grid: a link of
// `vertex` with the next links of its dimension and of later dimensions.
template <class Visit>
void for_each_next(const Grid& grid, std::uint32_t vertex, Hop hop, const Visit& visit) {
  const auto wraps = [&grid](std::uint32_t at, std::uint32_t port) {
    const std::uint32_t place = grid.coordinates()[at][port / 2];
    return place == (port % 2 != 0 ? 0 : grid.extents()[port / 2] - 1);
  };
  const std::uint32_t next = grid.neighbour(vertex, hop.port)->vertex;
  for (std::uint32_t port = hop.port / 2 * 2; port < grid.max_ports(); ++port) {
    const bool same = port / 2 == hop.port / 2;
    if ((same && port != hop.port) || !grid.neighbour(next, port)) continue;
    if (same && hop.channel == 1 && wraps(next, port)) continue;  // once round and no further
    visit(next, Hop{port, wraps(next, port) || (same && hop.channel == 1) ? 1U : 0U});
  }
}

}  // namespace

Detours::Detours(const Grid& grid, std::vector<LinkEnd> dead, const std::string& topology) : dead_(std::move(dead)) {
  std::sort(dead_.begin(), dead_.end(), by_place);
  require_joined(grid, topology);
  const auto aside = [&grid](const LinkEnd& end) { return !grid.wraps(end.port / 2); };
  const auto count = std::count_if(dead_.begin(), dead_.end(), aside);
  steps_aside_ = count != 0;
  const auto too_long = [&grid](const LinkEnd& end) {
    return grid.wraps(end.port / 2) && grid.extents()[end.port / 2] > Grid::kLongestOneWay;
  };
  if (std::any_of(dead_.begin(), dead_.end(), too_long)) {
    throw UsageError("topology " + topology + ": allowed are dead links of rings of at most " +
                     std::to_string(Grid::kLongestOneWay) + " nodes");
  }
  const std::vector<Pair> pairs = affected(grid);
  look_for_ways(grid, pairs, topology);
  if (count > 2 && grid.channels() > 1) require_no_circle(grid, pairs, topology);
}

Detours::Detours(const FatTree& tree, std::vector<LinkEnd> dead, const std::string& topology) : dead_(std::move(dead)) {
  std::sort(dead_.begin(), dead_.end(), by_place);
  require_joined(tree, topology);
  look_for_ways(tree, affected(tree), topology);
}

bool Detours::is_dead(std::uint32_t vertex, std::uint32_t port) const {
  return std::binary_search(dead_.begin(), dead_.end(), LinkEnd{vertex, port}, by_place);
}

Hop Detours::next(const Grid& grid, std::uint32_t vertex, std::uint32_t to, Route& route) {
  if (!steps_aside(route)) return route.next();
  auto& [aside, back, part] = route.legs;
  if (part == kAside && vertex == aside) ++part;
  if (part == kAside + 1 && vertex == back) ++part;
  if (part == kAside) return straight_on(grid, vertex, aside, 0);
  return part == kAside + 1 ? straight_on(grid, vertex, back, 1) : straight_on(grid, vertex, to, 0);
}

Hop Detours::next(const FatTree& tree, std::uint32_t vertex, std::uint32_t to, const Route& route) {
  return tree.next(vertex, to, route.legs[0]);
}

template <class Shape>
std::optional<LinkEnd> Detours::first_dead(const Shape& shape, std::uint32_t from, std::uint32_t to, Route route,
                                           std::uint32_t* hops) const {
  std::uint32_t count = 0;
  for (std::uint32_t at = from; at != to; ++count) {
    const std::uint32_t port = next(shape, at, to, route).port;
    const auto end = shape.neighbour(at, port);
    if (!end || is_dead(at, port)) return LinkEnd{at, port};
    at = end->vertex;
  }
  if (hops != nullptr) *hops = count;
  return std::nullopt;
}

std::optional<Route> Detours::find(const Grid& grid, std::uint32_t from, std::uint32_t to) const {
  Route route = grid.route(from, to);
  std::uint32_t turned = 0;  // dimensions, a bit each
  for (;;) {
    const auto dead = first_dead(grid, from, to, route);
    if (!dead) return route;
    const std::uint32_t dimension = dead->port / 2;
    if (!grid.wraps(dimension)) return step_aside(grid, from, to, dimension);
    if ((turned >> dimension & 1U) != 0) return std::nullopt;
    turned |= 1U << dimension;
    route.legs[dimension] = grid.other_way(from, to, dimension);
  }
}

// Find a way past a dead link of a dimension that does not wrap.
std::optional<Route> Detours::step_aside(const Grid& grid, std::uint32_t from, std::uint32_t to,
                                         std::uint32_t dimension) const {
  std::optional<Route> best;
  std::uint32_t fewest = 0;
  const auto consider = [&](std::uint32_t aside, std::uint32_t back) {
    const std::uint32_t hops = lines(grid, from, aside) + lines(grid, aside, back) + lines(grid, back, to);
    const Route route{{aside, back, kAside}};
    if ((best && fewest <= hops) || first_dead(grid, from, to, route)) return;
    best = route;
    fewest = hops;
  };
  const auto extents = grid.extents();
  // Visit each place on the lines through `place`, except along one dimension; the nearest first.
  const auto for_each_beside = [&](const Grid::Coordinates& place, std::uint32_t not_along, const auto& visit) {
    for (std::uint32_t other = 0; other < extents.size(); ++other) {
      for (std::int64_t step = 1; other != not_along && step < extents[other]; ++step) {
        for (const std::int64_t at : {place[other] + step, place[other] - step}) {
          if (at < 0 || at >= extents[other]) continue;
          Grid::Coordinates beside = place;
          beside[other] = static_cast<std::uint16_t>(at);
          visit(beside);
        }
      }
    }
  };
  if (grid.channels() > 1) {
    // A row of a later dimension is taken first and left by the usual way. A row of an earlier dimension replaces the
    // destination's row and is left at the end.
    Grid::Coordinates line = grid.coordinates()[from];
    for (std::uint32_t i = 0; i < dimension; ++i) line[i] = grid.coordinates()[to][i];
    for_each_beside(line, dimension, [&](Grid::Coordinates place) {
      const std::uint32_t aside = grid.vertex_at(place);
      place[dimension] = grid.coordinates()[to][dimension];
      consider(aside, grid.vertex_at(place));
    });
    return best;
  }
  for (const std::uint32_t end : {from, to}) {
    const auto none = static_cast<std::uint32_t>(extents.size());
    for_each_beside(grid.coordinates()[end], none, [&](const auto& place) { consider(grid.vertex_at(place), to); });
  }
  for (std::uint32_t vertex = 0; !best && vertex < grid.vertices(); ++vertex) consider(vertex, to);
  return best;
}

std::optional<Route> Detours::find(const FatTree& tree, std::uint32_t from, std::uint32_t to) const {
  for (std::uint32_t i = 0; i < tree.terminals(); ++i) {
    const Route route = usual((to + i) % tree.terminals());
    if (!first_dead(tree, from, to, route)) return route;
  }
  return std::nullopt;
}

// Ways over a link of a grid begin where all later dimensions equal the link's, and end where all earlier dimensions
// equal the link's.
std::vector<Detours::Pair> Detours::affected(const Grid& grid) const {
  std::vector<Pair> pairs;
  const auto all = grid.coordinates();
  for (const LinkEnd& link : dead_) {
    const Grid::Coordinates& place = all[link.vertex];
    const std::uint32_t dimension = link.port / 2;
    const auto alike = [&](std::uint32_t vertex, std::uint32_t first, std::uint32_t last) {
      return std::equal(place.begin() + first, place.begin() + last, all[vertex].begin() + first);
    };
    std::vector<std::uint32_t> ends;
    for (std::uint32_t to = 0; to < grid.vertices(); ++to) {
      if (alike(to, 0, dimension)) ends.push_back(to);
    }
    for (std::uint32_t from = 0; from < grid.vertices(); ++from) {
      if (!alike(from, dimension + 1, 3)) continue;
      for (const std::uint32_t to : ends) {
        if (from != to && first_dead(grid, from, to, grid.route(from, to)) == link) pairs.push_back({from, to});
      }
    }
  }
  return pairs;
}

// All ways up from below a link, and all ways down to there, use the same links, whatever their source.
std::vector<Detours::Pair> Detours::affected(const FatTree& tree) const {
  std::vector<Pair> pairs;
  for (const LinkEnd& link : dead_) {
    const std::uint32_t end = tree.neighbour(link.vertex, link.port)->vertex;
    const bool is_up = tree.below(end).count > tree.below(link.vertex).count;
    const auto [first, count] = tree.below(is_up ? link.vertex : end);
    const auto is_below = [first = first, count = count](std::uint32_t terminal) { return terminal - first < count; };
    const std::uint32_t beside = first == 0 ? count : 0;
    for (std::uint32_t to = 0; to < tree.terminals(); ++to) {
      if (is_below(to) == is_up) continue;
      const std::uint32_t terminal = is_up ? first : beside;
      const auto dead = first_dead(tree, terminal, to, usual(to));
      if (!dead) continue;
      for (std::uint32_t from = 0; from < tree.terminals(); ++from) {
        if (is_below(from) != is_up) continue;
        if (first_dead(tree, from, to, usual(to)) == link) pairs.push_back({from, to});
      }
    }
  }
  return pairs;
}

template <class Shape>
void Detours::look_for_ways(const Shape& shape, const std::vector<Pair>& pairs, const std::string& topology) {
  std::size_t lost = 0;
  Pair first{};
  for (const Pair& pair : pairs) {
    const auto route = find(shape, pair.from, pair.to);
    if (!route) {
      if (lost++ == 0) first = pair;
      continue;
    }
    ways_.emplace(key(pair.from, pair.to), *route);
    std::uint32_t hops = 0;
    (void)first_dead(shape, pair.from, pair.to, *route, &hops);
    further_hops_ += static_cast<double>(hops) - static_cast<double>(shape.hops(pair.from, pair.to));
  }
  if (lost == 0) return;
  throw UsageError("topology " + topology + ": its routing has no way from node " + std::to_string(first.from) +
                   " to node " + std::to_string(first.to) +
                   (lost == 1 ? "" : " and between " + std::to_string(lost - 1) + " more pairs") +
                   "; allowed are dead links round which it has one");
}

// Throw UsageError unless all nodes are joined; the message names the few nodes that are cut off.
template <class Shape>
void Detours::require_joined(const Shape& shape, const std::string& topology) const {
  constexpr std::uint32_t kNone = 0xffffffffU;
  std::vector<std::uint32_t> part(shape.vertices(), kNone);
  std::vector<std::vector<std::uint32_t>> parts;  // the nodes of each
  for (std::uint32_t first = 0; first < shape.terminals(); ++first) {
    if (part[first] != kNone) continue;
    std::vector<std::uint32_t> nodes;
    std::vector<std::uint32_t> open{first};
    const auto number = static_cast<std::uint32_t>(parts.size());
    part[first] = number;
    while (!open.empty()) {
      const std::uint32_t at = open.back();
      open.pop_back();
      if (at < shape.terminals()) nodes.push_back(at);
      for (std::uint32_t port = 0; port < shape.ports(at); ++port) {
        const auto end = shape.neighbour(at, port);
        if (!end || is_dead(at, port) || part[end->vertex] != kNone) continue;
        part[end->vertex] = number;
        open.push_back(end->vertex);
      }
    }
    parts.push_back(std::move(nodes));
  }
  if (parts.size() <= 1) return;
  const auto by_size = [](const auto& x, const auto& y) { return x.size() < y.size(); };
  const auto most = std::max_element(parts.begin(), parts.end(), by_size);
  std::vector<std::uint32_t> lost;
  for (auto each = parts.begin(); each != parts.end(); ++each) {
    if (each != most) lost.insert(lost.end(), each->begin(), each->end());
  }
  std::sort(lost.begin(), lost.end());
  throw UsageError("topology " + topology + ": " + (lost.size() == 1 ? "node " : "nodes ") + few(lost) +
                   (lost.size() == 1 ? " is" : " are") + " cut off; allowed are dead links round which there is a way");
}

// A single dead link closes no cycle; ways that step aside for several dead links might.
void Detours::require_no_circle(const Grid& grid, const std::vector<Pair>& pairs, const std::string& topology) const {
  const auto channel_of = [&grid](std::uint32_t vertex, Hop hop) {
    return (vertex * grid.max_ports() + hop.port) * 2 + hop.channel;
  };
  std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> further;  // next channels of ways that step aside
  for (const Pair& pair : pairs) {
    Route route = this->route(grid, pair.from, pair.to);
    std::optional<std::uint32_t> before;
    for (std::uint32_t at = pair.from; at != pair.to;) {
      const Hop hop = next(grid, at, pair.to, route);
      const std::uint32_t channel = channel_of(at, hop);
      if (before) further[*before].push_back(channel);
      before = channel;
      at = grid.neighbour(at, hop.port)->vertex;
    }
  }
  const auto next_of = [&](std::uint32_t channel, const auto& visit) {
    const std::uint32_t vertex = channel / 2 / grid.max_ports();
    const Hop hop{channel / 2 % grid.max_ports(), channel % 2};
    // Only ways that step aside use channel 1 of a dimension that does not wrap.
    if (hop.channel == 0 || grid.wraps(hop.port / 2)) {
      for_each_next(grid, vertex, hop, [&](std::uint32_t at, Hop then) { visit(channel_of(at, then)); });
    }
    if (const auto detour = further.find(channel); detour != further.end()) {
      for (const std::uint32_t each : detour->second) visit(each);
    }
  };
  // Remove every channel that no remaining channel waits for; if channels are left, a cycle exists.
  std::vector<std::uint32_t> waiting(std::size_t{grid.vertices()} * grid.max_ports() * 2);
  std::vector<std::uint32_t> open;
  const auto exists = [&](std::uint32_t channel) {
    return grid.neighbour(channel / 2 / grid.max_ports(), channel / 2 % grid.max_ports()).has_value();
  };
  for (std::uint32_t channel = 0; channel < waiting.size(); ++channel) {
    if (exists(channel)) next_of(channel, [&](std::uint32_t then) { ++waiting[then]; });
  }
  std::size_t left = 0;
  for (std::uint32_t channel = 0; channel < waiting.size(); ++channel) {
    if (!exists(channel)) continue;
    ++left;
    if (waiting[channel] == 0) open.push_back(channel);
  }
  while (!open.empty()) {
    const std::uint32_t channel = open.back();
    open.pop_back();
    --left;
    next_of(channel, [&](std::uint32_t then) {
      if (--waiting[then] == 0) open.push_back(then);
    });
  }
  if (left == 0) return;
  throw UsageError("topology " + topology +
                   ": ways round these dead links would wait for one another; allowed are fewer of them, or links "
                   "further apart");
}

}  // namespace gasmeter::sim
