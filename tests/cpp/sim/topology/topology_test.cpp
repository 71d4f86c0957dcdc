#include "gasmeter/sim/topology/topology.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "gasmeter/base/error.hpp"
#include "walk.hpp"

namespace gasmeter::sim::topology_test {
namespace {

using testing::error_of;

TEST_CASE("links_lead_back_and_join_all_vertices") {
  for (const std::string& name : testing::all_shapes()) {
    CAPTURE(name);
    const Topology topology = Topology::parse(name);
    std::uint32_t most = 0;
    bool leads_back = true;
    for (std::uint32_t vertex = 0; vertex < topology.vertices(); ++vertex) {
      most = std::max(most, topology.ports(vertex));
      for (std::uint32_t port = 0; port < topology.ports(vertex); ++port) {
        const auto end = topology.neighbour(vertex, port);
        if (!end) continue;
        const bool exists = end->vertex < topology.vertices() && end->port < topology.ports(end->vertex);
        const auto back = exists ? topology.neighbour(end->vertex, end->port) : std::nullopt;
        const bool returns = topology.one_way() ? !back : back == LinkEnd{vertex, port};
        leads_back = leads_back && exists && end->vertex != vertex && returns;
      }
    }
    CHECK(leads_back);
    CHECK(most == topology.max_ports());
    const auto reached = testing::distances(topology, 0);
    CHECK(std::find(reached.begin(), reached.end(), UINT32_MAX) == reached.end());
  }
}

TEST_CASE("only_edges_of_meshes_and_cables_of_short_dimensions_are_missing") {
  const auto missing = [](const char* name) {
    const Topology topology = Topology::parse(name);
    int count = 0;
    for (std::uint32_t vertex = 0; vertex < topology.vertices(); ++vertex)
      for (std::uint32_t port = 0; port < topology.ports(vertex); ++port)
        if (!topology.neighbour(vertex, port)) ++count;
    return count;
  };
  CHECK(missing("ring:3") == 0);
  CHECK(missing("ring:2") == 2);
  CHECK(missing("ring:1") == 2);
  CHECK(missing("torus3d:4x3x5") == 0);
  CHECK(missing("torus3d:4x2x1") == 8 + 16);
  CHECK(missing("mesh2d:4x3") == 2 * 3 + 2 * 4);
  CHECK(missing("mesh3d:4x4x4") == 6 * 16);
  // On one-way rings all ports that lead down are missing.
  CHECK(missing("oneway-ring:1") == 2);
  CHECK(missing("oneway-ring:2") == 2);
  CHECK(missing("oneway-torus3d:4x3x5") == 3 * 60);
  for (const std::string& name : testing::kSwitched) CHECK(missing(name.c_str()) == 0);
}

TEST_CASE("channels_are_as_many_as_needed") {
  const auto channels = [](const char* name) { return Topology::parse(name).channels(); };
  CHECK(channels("mesh3d:4x4x4") == 1);
  CHECK(channels("torus3d:2x2x2") == 1);
  CHECK(channels("torus3d:2x2x3") == 2);
  CHECK(channels("ring:2") == 1);
  CHECK(channels("ring:5") == 2);
  CHECK(channels("oneway-ring:1") == 1);
  CHECK(channels("oneway-ring:2") == 2);
  CHECK(channels("crossbar:4") == 1);
  CHECK(channels("fat-tree:4x3") == 1);
  CHECK(channels("dragonfly:1x4x2") == 1);
  CHECK(channels("dragonfly:4x1x2") == 1);
  CHECK(channels("dragonfly:4x2x2") == 2);
  CHECK(channels("xc:1x1x1") == 1);
  CHECK(channels("xc:1") == 2);
}

TEST_CASE("mean_hops_and_bisection_are_those_of_the_papers") {
  CHECK(Topology::parse("mesh3d:4x4x4").mean_hops() == 3.75);
  CHECK(Topology::parse("mesh2d:8x8").mean_hops() == 5.25);
  CHECK(Topology::parse("mesh3d:4x4x4").bisection_links() == 16);
  CHECK(Topology::parse("mesh2d:8x8").bisection_links() == 8);
  // Computed by hand.
  CHECK(Topology::parse("torus3d:8x8x8").mean_hops() == 6);
  CHECK(Topology::parse("torus3d:8x8x8").bisection_links() == 128);
  CHECK(Topology::parse("torus3d:8x4x2").bisection_links() == 16);  // across x: 2 * 4 * 2; y: 2 * 8 * 2; z: 8 * 4
  CHECK(Topology::parse("mesh2d:8x1").bisection_links() == 1);
  CHECK(Topology::parse("ring:8").bisection_links() == 2);
  CHECK(Topology::parse("ring:1").bisection_links() == 0);
  CHECK(Topology::parse("oneway-ring:8").mean_hops() == 3.5);
  CHECK(Topology::parse("oneway-ring:8").bisection_links() == 1);
  CHECK(Topology::parse("oneway-torus3d:8x4x2").mean_hops() == 5.5);  // (7 + 3 + 1) / 2
  CHECK(Topology::parse("oneway-torus3d:8x4x2").bisection_links() == 8);
  CHECK(Topology::parse("crossbar:16").bisection_links() == 8);
  CHECK(Topology::parse("fat-tree:4x3").bisection_links() == 32);
  CHECK(Topology::parse("fat-tree:3x2").bisection_links() == 3);
  CHECK(Topology::parse("dragonfly:9x4x2").bisection_links() == 20);
  CHECK(Topology::parse("dragonfly:1x4x2").bisection_links() == 4);
  CHECK(Topology::parse("dragonfly:1x1x5").bisection_links() == 2);
  CHECK(Topology::parse("xc:9").bisection_links() == 4 * 5 * 120);
  CHECK(Topology::parse("xc:2").bisection_links() == 960);
  CHECK(Topology::parse("xc:1").bisection_links() == 6 * 8 * 8);  // between slots; between chassis 3 * 3 * 3 * 16
  CHECK(Topology::parse("xc:1x6x1").bisection_links() == 27);
  CHECK(Topology::parse("xc:1x1x5").bisection_links() == 6);
  CHECK(Topology::parse("xc:1x1x1").bisection_links() == 2);
}

TEST_CASE("sizes_of_switched_networks") {
  const Topology crossbar = Topology::parse("crossbar:7");
  CHECK(crossbar.terminals() == 7);
  CHECK(crossbar.vertices() == 8);
  CHECK(crossbar.ports(7) == 7);
  CHECK(crossbar.neighbour(3, 0) == LinkEnd{7, 3});
  const Topology tree = Topology::parse("fat-tree:4x3");
  CHECK(tree.terminals() == 64);
  CHECK(tree.vertices() == 64 + 3 * 16);
  CHECK(tree.ports(64) == 8);
  CHECK(tree.ports(64 + 2 * 16) == 4);
  const Topology dragonfly = Topology::parse("dragonfly:9x4x2");
  CHECK(dragonfly.terminals() == 72);
  CHECK(dragonfly.vertices() == 72 + 36);
  CHECK(dragonfly.ports(72) == 2 + 3 + 2);
}

TEST_CASE("every_two_groups_of_a_dragonfly_share_a_link_and_its_routers_have_as_many") {
  for (const auto& [groups, routers] : {std::pair{9U, 4U}, std::pair{5U, 2U}, std::pair{8U, 3U}, std::pair{3U, 4U}}) {
    const std::string name = "dragonfly:" + std::to_string(groups) + "x" + std::to_string(routers) + "x2";
    CAPTURE(name);
    const Topology topology = Topology::parse(name);
    const auto group_of = [&, size = routers](std::uint32_t vertex) { return (vertex - topology.terminals()) / size; };
    std::map<std::pair<std::uint32_t, std::uint32_t>, int> links;
    std::uint32_t fewest = UINT32_MAX;
    std::uint32_t most = 0;
    for (std::uint32_t router = topology.terminals(); router < topology.vertices(); ++router) {
      fewest = std::min(fewest, topology.ports(router));
      most = std::max(most, topology.ports(router));
      for (std::uint32_t port = 2 + routers - 1; port < topology.ports(router); ++port)
        ++links[{group_of(router), group_of(topology.neighbour(router, port)->vertex)}];
    }
    CHECK(links.size() == groups * (groups - 1));
    CHECK(std::all_of(links.begin(), links.end(), [](const auto& link) { return link.second == 1; }));
    CHECK(most - fewest <= 1);
  }
}

TEST_CASE("ports_have_names") {
  const Topology mesh = Topology::parse("mesh3d:4x4x4");
  std::string names;
  for (std::uint32_t port = 0; port < 6; ++port) names += mesh.port_name(0, port);
  CHECK(names == "+x-x+y-y+z-z");
  CHECK(mesh.neighbour(0, 0) == LinkEnd{1, 1});
  CHECK(mesh.neighbour(0, 2) == LinkEnd{4, 3});
  CHECK(mesh.neighbour(0, 4) == LinkEnd{16, 5});
  const Topology tree = Topology::parse("fat-tree:4x2");
  CHECK(tree.port_name(16, 3) == "down 3");
  CHECK(tree.port_name(16, 4) == "up 0");
  CHECK(Topology::parse("dragonfly:9x4x2").port_name(72, 5) == "global 0");
  const Topology xc = Topology::parse("xc:2");
  CHECK(xc.port_name(0, 0) == "router");
  CHECK(xc.port_name(768, 3) == "terminal 3");
  CHECK(xc.port_name(768, 18) == "backplane 14");
  CHECK(xc.port_name(768, 19) == "copper 0");
  CHECK(xc.port_name(768, 43) == "optical 9");
}

TEST_CASE("a_link_is_of_one_class_at_both_ends") {
  for (const std::string& name : testing::all_shapes()) {
    CAPTURE(name);
    const Topology topology = Topology::parse(name);
    const std::vector<std::string> classes = topology.link_classes();
    CHECK(classes.size() <= kMostLinkClasses);
    std::uint32_t wrong = 0;
    for (std::uint32_t vertex = 0; vertex < topology.vertices(); ++vertex) {
      for (std::uint32_t port = 0; port < topology.ports(vertex); ++port) {
        const auto end = topology.neighbour(vertex, port);
        if (!end) continue;
        const std::uint32_t link_class = topology.port_class(vertex, port);
        if (link_class >= classes.size() || link_class != topology.port_class(end->vertex, end->port)) ++wrong;
        // Names of ports tell the class: "+x" is of x, "global 0" of global; a link to a terminal is of terminal.
        const std::string port_name = topology.port_name(vertex, port);
        const std::string& of = classes[link_class];
        const bool to_terminal = vertex < topology.terminals() || end->vertex < topology.terminals();
        if (!topology.extents().empty() && port_name.substr(1) != of) ++wrong;
        if (topology.extents().empty() && to_terminal != (of == "terminal")) ++wrong;
        if ((testing::is_dragonfly(topology) || testing::is_xc(topology)) && !to_terminal && !port_name.starts_with(of))
          ++wrong;
      }
    }
    CHECK(wrong == 0);
  }
  using Names = std::vector<std::string>;
  CHECK(Topology::parse("ring:4").link_classes() == Names{"x"});
  CHECK(Topology::parse("oneway-torus2d:4x4").link_classes() == Names{"x", "y"});
  CHECK(Topology::parse("crossbar:4").link_classes() == Names{"terminal"});
  CHECK(Topology::parse("dragonfly:9x4x2").link_classes() == Names{"terminal", "local", "global"});
  CHECK(Topology::parse("xc:2").link_classes() == Names{"terminal", "backplane", "copper", "optical"});
  const Topology tree = Topology::parse("fat-tree:2x3");
  CHECK(tree.link_classes() == Names{"terminal", "level-1", "level-2"});
  CHECK(tree.port_class(8, 2) == 1);   // a switch of level 0, up
  CHECK(tree.port_class(12, 0) == 1);  // of level 1, down
  CHECK(tree.port_class(12, 3) == 2);  // and up
  CHECK(Topology::parse("fat-tree:2x16").link_classes().size() == kMostLinkClasses);
}

TEST_CASE("a_ring_is_entered_where_the_packet_came_from_or_turned") {
  const Topology torus = Topology::parse("oneway-torus3d:4x3x2");
  CHECK(torus.one_way());
  CHECK_FALSE(Topology::parse("torus3d:4x3x2").one_way());
  CHECK_FALSE(Topology::parse("crossbar:4").one_way());
  // The way from (3, 2, 1) to (1, 0, 0) leads over (1, 2, 1) and (1, 0, 1).
  CHECK(torus.ring_entry(23, 21, 0) == 23);
  CHECK(torus.ring_entry(23, 13, 1) == 21);
  CHECK(torus.ring_entry(23, 1, 2) == 13);
}

TEST_CASE("parse_yields_canonical_names_and_extents") {
  CHECK(Topology::parse("torus3d:08x4x2").name() == "torus3d:8x4x2");
  const Topology mesh = Topology::parse("mesh2d:3x5");
  CHECK(std::vector(mesh.extents().begin(), mesh.extents().end()) == std::vector<std::uint32_t>{3, 5});
  CHECK(Topology::parse("crossbar:4").extents().empty());
  CHECK(Topology::parse("torus3d:64x32x32").terminals() == 65536);
  CHECK(Topology::parse("fat-tree:2x16").terminals() == 65536);
  CHECK(Topology::parse("crossbar:65536").terminals() == 65536);
  for (const TopologyKind& kind : topology_kinds()) {
    CHECK(Topology::parse(kind.example).name() == kind.example);
    CHECK(kind.example.starts_with(kind.name + ":"));
    CHECK_FALSE(kind.summary.empty());
  }
  CHECK(topology_kinds().size() == 12);
  CHECK(Topology::parse("xc:3x6x16").name() == "xc:3");
  CHECK(Topology::parse("xc:3x6x15").name() == "xc:3x6x15");
  CHECK(Topology::parse("xc:170").terminals() == 65280);
}

TEST_CASE("parse_says_what_is_wrong") {
  CHECK(error_of("mesh3d:4x0x4") ==
        "topology mesh3d:4x0x4: `0` is not a whole number of at least 1; for example mesh3d:4x4x4");
  CHECK(error_of("mesh3d:4x4") ==
        "topology mesh3d:4x4: mesh3d takes 3 numbers and was given 2; for example mesh3d:4x4x4");
  CHECK(error_of("ring:4x4") == "topology ring:4x4: ring takes 1 number and was given 2; for example ring:8");
  CHECK(error_of("torus3d:64x64x64") ==
        "topology torus3d:64x64x64: too large, at most 65536 nodes are; for example torus3d:8x8x8");
  CHECK(error_of("oneway-torus2d:1x32769") ==
        "topology oneway-torus2d:1x32769: too long, at most 32768 nodes are in a ring; for example oneway-torus2d:8x8");
  CHECK(error_of("tours2d:4x4") ==
        "topology tours2d:4x4: no kind is called `tours2d`; there are ring, mesh2d, mesh3d, torus2d, torus3d, "
        "oneway-ring, oneway-torus2d, oneway-torus3d, crossbar, fat-tree, dragonfly, xc; for example torus3d:8x8x8");
  CHECK(error_of("xc:0") == "topology xc:0: `0` is not a whole number of at least 1; for example xc:2");
  CHECK(error_of("xc:a") == "topology xc:a: `a` is not a whole number of at least 1; for example xc:2");
  CHECK(error_of("xc:200") == "topology xc:200: too large, at most 65536 nodes are; for example xc:2");
  CHECK(error_of("xc") == "topology xc: its size is missing; for example xc:2");
  CHECK(error_of("xc:2x2") == "topology xc:2x2: xc takes 1 or 3 numbers and was given 2; for example xc:2");
  CHECK(error_of("xc:2x7x16") ==
        "topology xc:2x7x16: at most 6 chassis of 16 routers are in a group; for example xc:2");
  CHECK(error_of("xc:2x6x17") ==
        "topology xc:2x6x17: at most 6 chassis of 16 routers are in a group; for example xc:2");
  CHECK(error_of("xc:22x1x2") ==
        "topology xc:22x1x2: a group has 20 optical links and not one to each of 21 others; for example xc:2");
  const auto contains = [](const std::string& text, const std::string& part) {
    CAPTURE(text);
    const std::string error = error_of(text);
    CAPTURE(error);
    CHECK(error.find(part) != std::string::npos);
  };
  for (const char* text : {"", ":", "4x4", "Mesh2d:4x4", " mesh2d:4x4", "mesh:4x4"}) contains(text, "no kind");
  contains("mesh2d", "size is missing");
  for (const char* text :
       {"mesh2d:", "mesh2d:4x", "mesh2d:x4", "mesh2d:4xx4", "mesh2d:4x4x", "mesh2d:4x4 ", "mesh2d:4x 4", "mesh2d:-4x4",
        "mesh2d:+4x4", "mesh2d:4.0x4", "mesh2d:4X4", "mesh2d:4x4:4", "mesh2d:4x0x10"})
    contains(text, "whole number");
  contains("fat-tree:1x3", "at least 2");
  contains("fat-tree:0x3", "at least 2");
  for (const char* text :
       {"ring:65537", "mesh2d:65536x2", "torus2d:65536x65536", "mesh3d:4194304x4194304x1048576", "fat-tree:2x17",
        "fat-tree:65537x1", "fat-tree:2x4294967295", "fat-tree:256x3", "dragonfly:65536x65536x1", "dragonfly:1x257x256",
        "xc:171", "xc:4294967295", "ring:4294967296", "ring:4294967297", "crossbar:99999999999999999999999"})
    contains(text, "too large");
}

TEST_CASE("room_is_required_by_name") {
  const Topology mesh = Topology::parse("mesh3d:4x4x4");
  CHECK_NOTHROW(mesh.require_room(64));
  CHECK_THROWS_WITH_AS(mesh.require_room(65), "topology mesh3d:4x4x4 has 64 nodes; 65 are asked for", UsageError);
  const Topology tree = Topology::parse("fat-tree:2x2");  // switches have no room
  CHECK_THROWS_AS(tree.require_room(5), UsageError);
}

}  // namespace
}  // namespace gasmeter::sim::topology_test
