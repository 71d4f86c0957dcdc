// Wiring of a modelled network's routers, and the way of each packet: deterministic, minimal, free of deadlock. Each
// family has its own header: grid.hpp, fat_tree.hpp (also crossbars), dragonfly.hpp, cray_xc.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "gasmeter/sim/topology/cray_xc.hpp"
#include "gasmeter/sim/topology/detours.hpp"
#include "gasmeter/sim/topology/dragonfly.hpp"
#include "gasmeter/sim/topology/fat_tree.hpp"
#include "gasmeter/sim/topology/faults.hpp"
#include "gasmeter/sim/topology/grid.hpp"
#include "gasmeter/sim/topology/route.hpp"

namespace gasmeter::sim {

// Classes of links that a topology may have at most.
inline constexpr std::size_t kMostLinkClasses = 16;

// Vertices are routers. The first terminals() of them have a NIC (a node of ranks), the others are switches alone.
// Vertices and ports passed to the members must exist.
class Topology {
 public:
  static constexpr std::uint32_t kMostTerminals = 65536;

  // Parse "torus3d:8x8x8", or with faults behind it "torus3d:8x8x8/dead:0-1/slow:5x4". Throws UsageError that says what
  // is wrong and shows an example.
  static Topology parse(const std::string& text);

  [[nodiscard]] const std::string& name() const { return name_; }  // canonical text
  [[nodiscard]] std::uint32_t terminals() const { return terminals_; }
  [[nodiscard]] std::uint32_t vertices() const;
  [[nodiscard]] std::uint32_t channels() const;  // virtual channels that each link needs
  // Return the numbers of ports; some ports of a grid have no link.
  [[nodiscard]] std::uint32_t ports(std::uint32_t vertex) const;
  [[nodiscard]] std::uint32_t max_ports() const;
  // Return where the link of a port ends. nullopt: no link begins there (at the edge of a mesh, at the end of a one-way
  // link), or the link is dead.
  [[nodiscard]] std::optional<LinkEnd> neighbour(std::uint32_t vertex, std::uint32_t port) const;

  // Return the way between two different terminals. Where there are several, flows may differ; packets of one flow
  // never do.
  [[nodiscard]] Route route(std::uint32_t from, std::uint32_t to, std::uint32_t flow = 0) const;
  // Return the link to take at `vertex`, which is not `to`. Called once per hop, as the call uses the route up.
  Hop next(std::uint32_t vertex, std::uint32_t to, Route& route) const {
    return by_legs_ ? route.next() : next_by_vertex(vertex, to, route);
  }

  [[nodiscard]] std::uint32_t hops(std::uint32_t from, std::uint32_t to) const;  // links on the way of flow 0
  [[nodiscard]] double mean_hops() const;                                        // uniform traffic, self included
  // Count the links, in one direction, between two halves of the terminals. The family chooses the halves: among those
  // that it considers, the ones with the fewest links that are not dead. A slow link counts as a link.
  [[nodiscard]] std::uint64_t bisection_links() const;

  // For plots: extents of a grid, else empty.
  [[nodiscard]] std::span<const std::uint32_t> extents() const;
  // Coordinates of each vertex of a grid, else empty.
  [[nodiscard]] std::span<const Grid::Coordinates> coordinates() const;
  // For plots: a port's name, such as "+x", "up 3", "global 0".
  [[nodiscard]] std::string port_name(std::uint32_t vertex, std::uint32_t port) const;

  // Return the names of all classes of links of the family; classes may differ in cost.
  [[nodiscard]] std::vector<std::string> link_classes() const;
  // Return the place of a port's link in link_classes(), whichever way the link leads.
  [[nodiscard]] std::uint32_t port_class(std::uint32_t vertex, std::uint32_t port) const;

  // Return the fat tree; null: another family.
  [[nodiscard]] const FatTree* tree() const { return std::get_if<FatTree>(&shape_); }

  // Return the topology whose unordered packets choose a way at their first router; else null.
  [[nodiscard]] const CrayXc* chooser() const { return std::get_if<CrayXc>(&shape_); }

  // Tell whether the topology is made of rings whose links go one way.
  [[nodiscard]] bool one_way() const;
  // On such rings: return where a packet from `from` entered the ring of `dimension` that it leaves at `vertex`.
  [[nodiscard]] std::uint32_t ring_entry(std::uint32_t from, std::uint32_t vertex, std::uint32_t dimension) const;

  // A port whose link has a fault.
  struct FaultyPort {
    LinkEnd begin;
    std::uint32_t end;  // the vertex where the link ends
    Slowness slowness;  // without meaning for a dead link
  };
  [[nodiscard]] std::span<const SlowNode> slow_nodes() const;
  [[nodiscard]] std::span<const FaultyPort> slow_links() const;  // each direction
  [[nodiscard]] std::span<const FaultyPort> dead_links() const;  // each direction
  [[nodiscard]] bool has_dead_links() const { return has_dead_links_; }

  // Throw UsageError where there are more nodes than terminals.
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
  // Return all ports, both ways, of links that join the two vertices. Throws UsageError, whose text begins with `what`,
  // where none does.
  [[nodiscard]] std::vector<FaultyPort> ports_of(const FaultyLink& link, const std::string& what) const;

  std::string name_;
  Shape shape_;
  std::uint32_t terminals_;
  bool by_legs_;  // ways of all pairs are dimension by dimension
  bool has_dead_links_ = false;
  std::shared_ptr<const Faulty> faulty_;  // null: no faults
};

struct TopologyKind {
  std::string name;
  std::string summary;
  std::string example;
};

// All kinds that parse() knows, in the order of a listing.
[[nodiscard]] const std::vector<TopologyKind>& topology_kinds();

}  // namespace gasmeter::sim
