#include "gasmeter/sim/topology/topology.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <utility>

#include "gasmeter/base/error.hpp"

namespace gasmeter::sim {

namespace {

using Numbers = std::vector<std::uint32_t>;

// Return the product of factors of at least 1, cut off beyond the limit, as the whole need not fit 64 bits.
std::uint64_t product(const Numbers& numbers) {
  std::uint64_t result = 1;
  for (const std::uint32_t number : numbers) {
    result *= number;
    if (result > Topology::kMostTerminals) break;
  }
  return result;
}

// The same for an arity of at least 2.
std::uint64_t power(const Numbers& arity_and_levels) {
  std::uint64_t result = 1;
  for (std::uint32_t i = 0; i < arity_and_levels[1] && result <= Topology::kMostTerminals; ++i) {
    result *= arity_and_levels[0];
  }
  return result;
}

// Say which limit of the machine an XC exceeds; empty: none.
std::string wrong_xc(const Numbers& n) {
  if (n[1] > CrayXc::kMostChassis || n[2] > CrayXc::kMostSlots) {
    return "at most " + std::to_string(CrayXc::kMostChassis) + " chassis of " + std::to_string(CrayXc::kMostSlots) +
           " routers are in a group";
  }
  const std::uint32_t links = CrayXc::kOptical * n[1] * n[2];
  if (n[0] - 1 <= links) return {};
  return "a group has " + std::to_string(links) + " optical links and not one to each of " + std::to_string(n[0] - 1) +
         " others";
}

std::vector<LinkEnd> begins_of(const std::vector<Topology::FaultyPort>& ports) {
  std::vector<LinkEnd> begins;
  begins.reserve(ports.size());
  for (const Topology::FaultyPort& port : ports) begins.push_back(port.begin);
  return begins;
}

}  // namespace

// A kind of topology, and how its text becomes a shape.
struct TopologyParser {
  TopologyKind kind;
  std::size_t numbers;                         // how many numbers make a shape
  std::uint64_t (*terminals)(const Numbers&);  // exact up to kMostTerminals, else any number above it
  Topology::Shape (*make)(const Numbers&);
  std::uint32_t least_first = 1;  // least first number; the others are at least 1
  std::uint32_t most_each = Topology::kMostTerminals;
  Numbers usual = {};  // defaults of the last numbers, which may all be left out
  std::string (*wrong_shape)(const Numbers&) = nullptr;

  template <Wrap wrap>
  static Topology::Shape make_grid(const Numbers& extents) {
    return Grid(extents, wrap);
  }
  static const std::vector<TopologyParser>& all();
  static const TopologyParser& of(const std::string& text);
  [[nodiscard]] Numbers parse_numbers(const std::string& text) const;
  [[nodiscard]] std::string name_of(const Numbers& given) const;
  [[nodiscard]] Topology parse(const std::string& text) const;

 private:
  [[nodiscard]] UsageError wrong(const std::string& text, const std::string& what) const {
    return UsageError("topology " + text + ": " + what + "; for example " + kind.example);
  }
};

const std::vector<TopologyParser>& TopologyParser::all() {
  static const std::vector<TopologyParser> parsers = {
      {{"ring", "N nodes in a ring", "ring:8"}, 1, product, make_grid<Wrap::yes>},
      {{"mesh2d", "grid of AxB nodes", "mesh2d:8x8"}, 2, product, make_grid<Wrap::no>},
      {{"mesh3d", "grid of AxBxC nodes", "mesh3d:4x4x4"}, 3, product, make_grid<Wrap::no>},
      {{"torus2d", "grid of AxB nodes whose edges are joined", "torus2d:8x8"}, 2, product, make_grid<Wrap::yes>},
      {{"torus3d", "grid of AxBxC nodes whose faces are joined", "torus3d:8x8x8"}, 3, product, make_grid<Wrap::yes>},
      {{"oneway-ring", "N nodes in a ring whose links go one way", "oneway-ring:8"},
       1,
       product,
       make_grid<Wrap::one_way>,
       1,
       Grid::kLongestOneWay},
      {{"oneway-torus2d", "grid of AxB nodes, each in two one-way rings", "oneway-torus2d:8x8"},
       2,
       product,
       make_grid<Wrap::one_way>,
       1,
       Grid::kLongestOneWay},
      {{"oneway-torus3d", "grid of AxBxC nodes, each in three one-way rings", "oneway-torus3d:4x4x4"},
       3,
       product,
       make_grid<Wrap::one_way>,
       1,
       Grid::kLongestOneWay},
      {{"crossbar", "N nodes at one switch", "crossbar:16"},
       1,
       product,
       [](const Numbers& n) -> Topology::Shape { return FatTree(n[0], 1); }},
      {{"fat-tree", "K^L nodes below L levels of switches with K ports down and K up", "fat-tree:4x3"},
       2,
       power,
       [](const Numbers& n) -> Topology::Shape { return FatTree(n[0], n[1]); },
       2},
      {{"dragonfly", "G groups of A routers with P nodes each, GxAxP", "dragonfly:9x4x2"},
       3,
       product,
       [](const Numbers& n) -> Topology::Shape { return Dragonfly(n[0], n[1], n[2]); }},
      {{"xc", "G groups of a Cray XC, each 6 chassis of 16 routers with 4 nodes; GxCxR: of C chassis of R", "xc:2"},
       3,
       [](const Numbers& n) { return product({n[0], n[1], n[2], CrayXc::kHosts}); },
       [](const Numbers& n) -> Topology::Shape { return CrayXc(n[0], n[1], n[2]); },
       1,
       Topology::kMostTerminals,
       {CrayXc::kMostChassis, CrayXc::kMostSlots},
       wrong_xc},
  };
  return parsers;
}

const TopologyParser& TopologyParser::of(const std::string& text) {
  const std::string name = text.substr(0, text.find(':'));
  std::string kinds;
  for (const TopologyParser& parser : all()) {
    if (parser.kind.name == name) return parser;
    kinds += (kinds.empty() ? "" : ", ") + parser.kind.name;
  }
  throw UsageError("topology " + text + ": no kind is called `" + name + "`; there are " + kinds +
                   "; for example torus3d:8x8x8");
}

Numbers TopologyParser::parse_numbers(const std::string& text) const {
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos) throw wrong(text, "its size is missing");
  Numbers result;
  for (std::size_t at = colon + 1; at <= text.size();) {
    const std::size_t end = std::min(text.find('x', at), text.size());
    const std::string_view word = std::string_view(text).substr(at, end - at);
    const std::uint32_t least = result.empty() ? least_first : 1;
    std::uint32_t number = 0;
    const auto [stop, code] = std::from_chars(word.data(), word.data() + word.size(), number);
    if (code == std::errc::result_out_of_range) {
      throw wrong(text, std::string(word) + " is too large, at most " + std::to_string(Topology::kMostTerminals) +
                            " nodes are");
    }
    if (code != std::errc() || stop != word.data() + word.size() || number < least) {
      throw wrong(text, "`" + std::string(word) + "` is not a whole number of at least " + std::to_string(least));
    }
    result.push_back(number);
    at = end + 1;
  }
  const std::size_t least_numbers = numbers - usual.size();
  if (result.size() == least_numbers) {
    result.insert(result.end(), usual.begin(), usual.end());
  } else if (result.size() != numbers) {
    throw wrong(text, kind.name + " takes " + std::to_string(least_numbers) +
                          (usual.empty() ? "" : " or " + std::to_string(numbers)) +
                          (numbers == 1 ? " number" : " numbers") + " and was given " + std::to_string(result.size()));
  }
  return result;
}

// Name the topology without the numbers that may be left out, if they are the defaults.
std::string TopologyParser::name_of(const Numbers& given) const {
  const bool is_usual = std::equal(usual.begin(), usual.end(), given.end() - static_cast<std::ptrdiff_t>(usual.size()));
  std::string name = kind.name;
  for (std::size_t i = 0; i < (is_usual ? numbers - usual.size() : numbers); ++i) {
    name += i == 0 ? ':' : 'x';
    name += std::to_string(given[i]);
  }
  return name;
}

Topology TopologyParser::parse(const std::string& text) const {
  const Numbers given = parse_numbers(text);
  if (terminals(given) > Topology::kMostTerminals) {
    throw wrong(text, "too large, at most " + std::to_string(Topology::kMostTerminals) + " nodes are");
  }
  if (*std::max_element(given.begin(), given.end()) > most_each) {
    throw wrong(text, "too long, at most " + std::to_string(most_each) + " nodes are in a ring");
  }
  if (wrong_shape != nullptr) {
    const std::string what = wrong_shape(given);
    if (!what.empty()) throw wrong(text, what);
  }
  return {name_of(given), make(given)};
}

Topology Topology::parse(const std::string& text) {
  const std::size_t slash = std::min(text.find('/'), text.size());
  const std::string whole = text.substr(0, slash);
  Topology topology = TopologyParser::of(whole).parse(whole);
  if (slash != text.size()) topology.add(Faults::parse(std::string_view(text).substr(slash), text));
  return topology;
}

Topology::Topology(std::string name, Shape shape) : name_(std::move(name)), shape_(std::move(shape)) {
  terminals_ = std::visit([](const auto& s) { return s.terminals(); }, shape_);
  by_legs_ = std::holds_alternative<Grid>(shape_);
}

std::vector<Topology::FaultyPort> Topology::ports_of(const FaultyLink& link, const std::string& what) const {
  std::vector<FaultyPort> joining;
  for (const auto& [begin, end] : {std::pair{link.a, link.b}, std::pair{link.b, link.a}}) {
    for (std::uint32_t port = 0; link.b < vertices() && port < ports(begin); ++port) {
      const auto far_end = neighbour(begin, port);
      if (far_end && far_end->vertex == end) joining.push_back({{begin, port}, end, link.slowness});
    }
  }
  if (!joining.empty()) return joining;
  throw UsageError(what + ": no link joins " + std::to_string(link.a) + " and " + std::to_string(link.b) +
                   "; allowed are neighbours among 0.." + std::to_string(vertices() - 1) +
                   (vertices() == terminals_ ? "" : ", nodes first, then switches"));
}

// Add faults. Every link is looked up before any is dead.
void Topology::add(Faults faults) {
  const std::string whole = name_;
  name_ += faults.name();
  const std::string what = "topology " + name_;
  auto faulty = std::make_shared<Faulty>();
  for (const SlowNode& slow : faults.nodes) {
    if (slow.node < terminals_) continue;
    throw UsageError(what + ": there is no node " + std::to_string(slow.node) + "; " + whole + " has 0.." +
                     std::to_string(terminals_ - 1));
  }
  for (const FaultyLink& slow : faults.slow) {
    for (const FaultyPort& port : ports_of(slow, what)) faulty->slow.push_back(port);
  }
  for (const FaultyLink& link : faults.dead) {
    for (const FaultyPort& port : ports_of(link, what)) faulty->dead.push_back(port);
  }
  has_dead_links_ = !faulty->dead.empty();
  if (has_dead_links_) {
    const auto* grid = std::get_if<Grid>(&shape_);
    const auto* tree = std::get_if<FatTree>(&shape_);
    std::vector<LinkEnd> dead = begins_of(faulty->dead);
    if (tree != nullptr) {
      faulty->detours = Detours(*tree, std::move(dead), name_);
    } else if (grid != nullptr && !grid->one_way()) {
      faulty->detours = Detours(*grid, std::move(dead), name_);
    } else {
      throw UsageError(what +
                       ": there is one way for each packet; allowed are dead links of rings, meshes, tori and fat "
                       "trees, and slow links of all");
    }
    by_legs_ = false;
  }
  faulty->faults = std::move(faults);
  faulty_ = std::move(faulty);
}

std::span<const SlowNode> Topology::slow_nodes() const {
  return faulty_ ? std::span<const SlowNode>(faulty_->faults.nodes) : std::span<const SlowNode>{};
}

std::span<const Topology::FaultyPort> Topology::slow_links() const {
  return faulty_ ? std::span<const FaultyPort>(faulty_->slow) : std::span<const FaultyPort>{};
}

std::span<const Topology::FaultyPort> Topology::dead_links() const {
  return faulty_ ? std::span<const FaultyPort>(faulty_->dead) : std::span<const FaultyPort>{};
}

std::uint32_t Topology::vertices() const {
  return std::visit([](const auto& shape) { return shape.vertices(); }, shape_);
}

std::uint32_t Topology::channels() const {
  const std::uint32_t usual = std::visit([](const auto& shape) { return shape.channels(); }, shape_);
  return faulty_ && faulty_->detours.needs_channel_1() ? 2 : usual;
}

std::uint32_t Topology::ports(std::uint32_t vertex) const {
  return std::visit([&](const auto& shape) { return shape.ports(vertex); }, shape_);
}

std::uint32_t Topology::max_ports() const {
  return std::visit([](const auto& shape) { return shape.max_ports(); }, shape_);
}

std::optional<LinkEnd> Topology::neighbour(std::uint32_t vertex, std::uint32_t port) const {
  if (has_dead_links_ && faulty_->detours.is_dead(vertex, port)) return std::nullopt;
  return std::visit([&](const auto& shape) { return shape.neighbour(vertex, port); }, shape_);
}

Route Topology::route(std::uint32_t from, std::uint32_t to, std::uint32_t flow) const {
  if (has_dead_links_) return route_past_dead(from, to);
  if (const auto* grid = std::get_if<Grid>(&shape_)) return grid->route(from, to);
  if (const auto* xc = std::get_if<CrayXc>(&shape_)) return xc->route(from, to, flow);
  return {};
}

Route Topology::route_past_dead(std::uint32_t from, std::uint32_t to) const {
  if (const auto* grid = std::get_if<Grid>(&shape_)) return faulty_->detours.route(*grid, from, to);
  return faulty_->detours.route(std::get<FatTree>(shape_), from, to);
}

Hop Topology::next_past_dead(std::uint32_t vertex, std::uint32_t to, Route& route) const {
  if (const auto* grid = std::get_if<Grid>(&shape_)) return Detours::next(*grid, vertex, to, route);
  return Detours::next(std::get<FatTree>(shape_), vertex, to, route);
}

Hop Topology::next_by_vertex(std::uint32_t vertex, std::uint32_t to, Route& route) const {
  if (has_dead_links_) return next_past_dead(vertex, to, route);
  if (const auto* tree = std::get_if<FatTree>(&shape_)) return tree->next(vertex, to);
  if (const auto* xc = std::get_if<CrayXc>(&shape_)) return xc->next(vertex, to, route);
  return std::get<Dragonfly>(shape_).next(vertex, to);
}

std::uint32_t Topology::hops(std::uint32_t from, std::uint32_t to) const {
  if (has_dead_links_) {
    std::uint32_t count = 0;
    Route route = from == to ? Route{} : route_past_dead(from, to);
    for (; from != to; ++count) from = neighbour(from, next_past_dead(from, to, route).port)->vertex;
    return count;
  }
  return std::visit([&](const auto& shape) { return shape.hops(from, to); }, shape_);
}

double Topology::mean_hops() const {
  const double usual = std::visit([](const auto& shape) { return shape.mean_hops(); }, shape_);
  if (!has_dead_links_) return usual;
  return usual + faulty_->detours.further_hops() / terminals_ / terminals_;
}

std::uint64_t Topology::bisection_links() const {
  if (!has_dead_links_) return std::visit([](const auto& shape) { return shape.bisection_links(); }, shape_);
  const std::vector<LinkEnd> dead = begins_of(faulty_->dead);
  if (const auto* grid = std::get_if<Grid>(&shape_)) return grid->bisection_links(dead);
  return std::get<FatTree>(shape_).bisection_links(dead);
}

std::span<const std::uint32_t> Topology::extents() const {
  const auto* grid = std::get_if<Grid>(&shape_);
  return grid == nullptr ? std::span<const std::uint32_t>{} : grid->extents();
}

std::span<const Grid::Coordinates> Topology::coordinates() const {
  const auto* grid = std::get_if<Grid>(&shape_);
  return grid == nullptr ? std::span<const Grid::Coordinates>{} : grid->coordinates();
}

std::string Topology::port_name(std::uint32_t vertex, std::uint32_t port) const {
  return std::visit([&](const auto& shape) { return shape.port_name(vertex, port); }, shape_);
}

std::vector<std::string> Topology::link_classes() const {
  return std::visit([](const auto& shape) { return shape.link_classes(); }, shape_);
}

std::uint32_t Topology::port_class(std::uint32_t vertex, std::uint32_t port) const {
  return std::visit([&](const auto& shape) { return shape.port_class(vertex, port); }, shape_);
}

bool Topology::one_way() const {
  const auto* grid = std::get_if<Grid>(&shape_);
  return grid != nullptr && grid->one_way();
}

std::uint32_t Topology::ring_entry(std::uint32_t from, std::uint32_t vertex, std::uint32_t dimension) const {
  return std::get<Grid>(shape_).ring_entry(from, vertex, dimension);
}

void Topology::require_room(std::uint32_t nodes) const {
  if (nodes <= terminals_) return;
  throw UsageError("topology " + name_ + " has " + std::to_string(terminals_) +
                   (terminals_ == 1 ? " node; " : " nodes; ") + std::to_string(nodes) + " are asked for");
}

const std::vector<TopologyKind>& topology_kinds() {
  static const std::vector<TopologyKind> kinds = [] {
    std::vector<TopologyKind> result;
    for (const TopologyParser& parser : TopologyParser::all()) result.push_back(parser.kind);
    return result;
  }();
  return kinds;
}

}  // namespace gasmeter::sim
