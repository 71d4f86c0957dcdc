#include "gasmeter/sim/topology/placement.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "gasmeter/base/error.hpp"

namespace gasmeter::sim::placement_test {
namespace {

using Nodes = std::vector<std::uint32_t>;

Nodes place(const char* text, std::uint32_t ranks, std::uint32_t nodes, std::uint32_t ranks_per_node = 0) {
  return Placement::parse(text).place(ranks, nodes, ranks_per_node);
}

TEST_CASE("fill_puts_consecutive_ranks_together") {
  CHECK(place("fill", 5, 2) == Nodes{0, 0, 0, 1, 1});
  CHECK(place("fill", 4, 4) == Nodes{0, 1, 2, 3});
  CHECK(place("fill", 3, 8) == Nodes{0, 1, 2});
  CHECK(place("fill", 6, 4) == Nodes{0, 0, 1, 1, 2, 2});  // ceil(6 / 4) each: node 3 stays empty
  CHECK(place("fill", 6, 8, 4) == Nodes{0, 0, 0, 0, 1, 1});
  CHECK(place("fill", 0, 3).empty());
}

TEST_CASE("round_robin_deals_ranks_out") {
  CHECK(place("round-robin", 5, 2) == Nodes{0, 1, 0, 1, 0});
  CHECK(place("round-robin", 4, 4) == Nodes{0, 1, 2, 3});
  CHECK(place("round-robin", 5, 3, 2) == Nodes{0, 1, 2, 0, 1});
}

TEST_CASE("one_per_node_leaves_ranks_alone") {
  CHECK(place("one-per-node", 3, 5) == Nodes{0, 1, 2});
  CHECK(place("one-per-node", 3, 3, 4) == Nodes{0, 1, 2});
}

TEST_CASE("list_gives_the_node_of_each_rank") {
  CHECK(place("list:0,0,3,1", 4, 4) == Nodes{0, 0, 3, 1});
  CHECK(place("list:2", 1, 3, 1) == Nodes{2});
  CHECK(Placement::parse("list:00,3").name() == "list:0,3");
  CHECK(Placement::parse("round-robin").name() == "round-robin");
}

TEST_CASE("parse_says_what_is_wrong_with_a_placement") {
  const std::vector<std::string> unknown = {"", "Fill", "fill ", "roundrobin", "list", "one_per_node", "fill:2"};
  for (const std::string& text : unknown) {
    CHECK_THROWS_WITH_AS(Placement::parse(text),
                         ("placement `" + text + "`: one of fill, round-robin, one-per-node, list:0,0,3,1").c_str(),
                         UsageError);
  }
  CHECK_THROWS_WITH_AS(Placement::parse("list:0,a,3"),
                       "placement `list:0,a,3`: `a` is not the number of a node; for example list:0,0,3,1", UsageError);
  for (const char* text :
       {"list:", "list:0,", "list:,0", "list:0,,1", "list:-1", "list:1 ", "list:1;2", "list:4294967296"})
    CHECK_THROWS_AS(Placement::parse(text), UsageError);
}

TEST_CASE("place_says_what_does_not_fit") {
  CHECK_THROWS_WITH_AS(place("one-per-node", 5, 4),
                       "placement one-per-node: 5 ranks, 1 on a node, do not fit on 4 nodes", UsageError);
  CHECK_THROWS_WITH_AS(place("fill", 9, 2, 4), "placement fill: 9 ranks, 4 on a node, do not fit on 2 nodes",
                       UsageError);
  CHECK_NOTHROW(place("fill", 8, 2, 4));
  CHECK_THROWS_WITH_AS(place("round-robin", 7, 3, 2), "placement round-robin: node 0 would get more than 2 ranks",
                       UsageError);
  CHECK_THROWS_WITH_AS(place("list:0,1", 3, 3), "placement list:0,1: lists the nodes of 2 ranks; there are 3 ranks",
                       UsageError);
  CHECK_THROWS_WITH_AS(place("list:0,1,0", 2, 3), "placement list:0,1,0: lists the nodes of 3 ranks; there are 2 ranks",
                       UsageError);
  CHECK_THROWS_WITH_AS(place("list:0,3", 2, 3), "placement list:0,3: rank 1 needs node 3; there are 3 nodes",
                       UsageError);
  CHECK_THROWS_WITH_AS(place("list:1,1", 2, 2, 1), "placement list:1,1: node 1 would get more than 1 rank", UsageError);
  for (const char* text : {"fill", "round-robin", "one-per-node"})
    CHECK_THROWS_WITH_AS(place(text, 1, 0), (std::string("placement ") + text + ": 0 nodes; at least 1").c_str(),
                         UsageError);
}

}  // namespace
}  // namespace gasmeter::sim::placement_test
