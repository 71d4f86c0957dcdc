// How the routers of a modelled network are wired, and which way a packet takes: deterministic, minimal, free of
// deadlock. What is particular to a family stands in its header: grid.hpp, fat_tree.hpp (also crossbars),
// dragonfly.hpp, cray_xc.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "gasmeter/sim/cray_xc.hpp"
#include "gasmeter/sim/detours.hpp"
#include "gasmeter/sim/dragonfly.hpp"
#include "gasmeter/sim/fat_tree.hpp"
#include "gasmeter/sim/faults.hpp"
#include "gasmeter/sim/grid.hpp"
#include "gasmeter/sim/route.hpp"

namespace gasmeter::sim {

// Classes of links of any topology, at most.
inline constexpr std::size_t kMostLinkClasses = 16;

// Vertices are routers. The first terminals() of them have a NIC (a node of ranks), the others are switches alone.
// Vertices and ports given to the members have to exist.
class Topology {
 public:
  static constexpr std::uint32_t kMostTerminals = 65536;

  // "torus3d:8x8x8", with faults behind it "torus3d:8x8x8/dead:0-1/slow:5x4". Throws UsageError that says what is wrong
  // and shows an example.
  static Topology parse(const std::string& text);

  [[nodiscard]] const std::string& name() const { return name_; }  // canonical text
  [[nodiscard]] std::uint32_t terminals() const { return terminals_; }
  [[nodiscard]] std::uint32_t vertices() const;
  [[nodiscard]] std::uint32_t channels() const;  // virtual channels that each link has to have
  // Numbers of ports; some of a grid have no link.
  [[nodiscard]] std::uint32_t ports(std::uint32_t vertex) const;
  [[nodiscard]] std::uint32_t max_ports() const;
  // Where the link of a port ends; nullopt: no link begins there, as at the edge of a mesh or where a one-way link
  // ends, or the link is dead.
  [[nodiscard]] std::optional<LinkEnd> neighbour(std::uint32_t vertex, std::uint32_t port) const;

  // Between two different terminals. Where there are several ways they may differ by flow, and those of one never do.
  [[nodiscard]] Route route(std::uint32_t from, std::uint32_t to, std::uint32_t flow = 0) const;
  // The link to take at `vertex`, which is not `to`; once per hop, as it uses the route up.
  Hop next(std::uint32_t vertex, std::uint32_t to, Route& route) const {
    return by_legs_ ? route.next() : next_by_vertex(vertex, to, route);
  }

  [[nodiscard]] std::uint32_t hops(std::uint32_t from, std::uint32_t to) const;  // links on the way of flow 0
  [[nodiscard]] double mean_hops() const;                                        // uniform traffic, self included
  // Links, counted in one direction, between two halves of the terminals. Which halves, the family says: of those that
  // it takes, the ones with the fewest links that are not dead. A slow link is a link.
  [[nodiscard]] std::uint64_t bisection_links() const;

  // For plots: of grids, else empty.
  [[nodiscard]] std::span<const std::uint32_t> extents() const;
  // Of grids, each vertex's; else empty.
  [[nodiscard]] std::span<const Grid::Coordinates> coordinates() const;
  // For plots: "+x", "up 3", "global 0".
  [[nodiscard]] std::string port_name(std::uint32_t vertex, std::uint32_t port) const;

  // Links of different classes may differ in what they cost: names, of all that the family has.
  [[nodiscard]] std::vector<std::string> link_classes() const;
  // Place there of a port's link, whichever way it leads.
  [[nodiscard]] std::uint32_t port_class(std::uint32_t vertex, std::uint32_t port) const;

  // Null where it is not one.
  [[nodiscard]] const FatTree* tree() const { return std::get_if<FatTree>(&shape_); }

  // Where unordered packets choose among ways at their first router; else null.
  [[nodiscard]] const CrayXc* chooser() const { return std::get_if<CrayXc>(&shape_); }

  // Whether it is made of rings whose links go one way.
  [[nodiscard]] bool one_way() const;
  // Of those: where a packet of `from` entered the ring of `dimension` that it leaves at `vertex`.
  [[nodiscard]] std::uint32_t ring_entry(std::uint32_t from, std::uint32_t vertex, std::uint32_t dimension) const;

  // What is wrong with it.
  struct FaultyPort {
    LinkEnd begin;
    std::uint32_t end;  // the vertex
    Slowness slowness;  // of a dead one nothing
  };
  [[nodiscard]] std::span<const SlowNode> slow_nodes() const;
  [[nodiscard]] std::span<const FaultyPort> slow_links() const;  // each direction
  [[nodiscard]] std::span<const FaultyPort> dead_links() const;  // each direction
  [[nodiscard]] bool has_dead_links() const { return has_dead_links_; }

  // Throws UsageError where `nodes` are more than there are terminals.
  void require_room(std::uint32_t nodes) const;

 private:
  using Shape = std::variant<Grid, FatTree, Dragonfly, CrayXc>;
  friend struct TopologyParser;

  Topology(std::string name, Shape shape);
  struct Faulty {
    Faults faults;
    std::vector<FaultyPort> slow;
    std::vector<FaultyPort> dead;
    Detours detours;
  };
  [[nodiscard]] Hop next_by_vertex(std::uint32_t vertex, std::uint32_t to, Route& route) const;
  [[nodiscard]] Hop next_past_dead(std::uint32_t vertex, std::uint32_t to, Route& route) const;
  [[nodiscard]] Route route_past_dead(std::uint32_t from, std::uint32_t to) const;
  void add(Faults faults);
  // Throws UsageError, `what` first, where no link joins those vertices. All that do, either way.
  [[nodiscard]] std::vector<FaultyPort> ports_of(const FaultyLink& link, const std::string& what) const;

  std::string name_;
  Shape shape_;
  std::uint32_t terminals_;
  bool by_legs_;  // ways are dimension by dimension, of all pairs
  bool has_dead_links_ = false;
  std::shared_ptr<const Faulty> faulty_;  // null: nothing is wrong
};

struct TopologyKind {
  std::string name;
  std::string summary;
  std::string example;
};

// All that parse() knows, in the order of a listing.
[[nodiscard]] const std::vector<TopologyKind>& topology_kinds();

}  // namespace gasmeter::sim
