// Golden times of links that differ: tests/golden/fabric.md.
#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

#include "script.hpp"

namespace gasmeter::sim::fabric_classes_test {
namespace {

using testing::Script;
using testing::Seen;

// Links take 1 ns a byte and 100 ns; links of class y 2 ns and 300 ns.
FabricParameters slow_columns(unsigned buffer, unsigned buffer_of_y) {
  FabricParameters parameters({1'000'000, {100'000}, buffer});
  parameters.classes["y"] = {2'000'000, {300'000}, buffer_of_y};
  return parameters;
}

FabricParameters slow_rows() {
  FabricParameters parameters({1'000'000, {100'000}});
  parameters.classes["x"] = {2'000'000, {300'000}};
  return parameters;
}

TEST_CASE("a_packet_goes_from_a_fast_link_to_a_slow_one") {
  Script script("mesh2d:2x2", slow_columns(0, 0));
  script.send(0, 0, 3, 50);
  const std::vector<Seen> seen = script.run();
  CHECK(seen[0].head == 400);
  CHECK(seen[0].tail == 500);
  CHECK(script.use(0, 1).busy == SimTime{50'000});
  CHECK(script.use(1, 3).busy == SimTime{100'000});
}

TEST_CASE("a_packet_from_a_slow_link_keeps_a_fast_one_until_its_last_byte_has_come") {
  Script script("mesh2d:2x2", slow_rows());
  script.send(0, 0, 3, 50);
  script.send(310, 1, 3, 50);
  const std::vector<Seen> seen = script.run();
  CHECK(seen[0].head == 400);
  CHECK(seen[0].tail == 500);
  CHECK(seen[1].head == 500);
  CHECK(seen[1].tail == 550);
}

TEST_CASE("credits_and_buffers_are_those_of_the_class") {
  Script script("mesh2d:2x2", slow_columns(2, 1));
  for (int packet = 0; packet < 2; ++packet) script.send(0, 1, 3, 50);
  for (int packet = 0; packet < 3; ++packet) script.send(0, 0, 1, 50);
  const std::vector<Seen> seen = script.run();
  CHECK(seen[0].head == 300);
  CHECK(seen[1].head == 1000);
  CHECK(seen[2].head == 100);
  CHECK(seen[3].head == 150);
  CHECK(seen[4].head == 350);
  CHECK(script.use(1, 3).blocked == 1);
  CHECK(script.use(0, 1).blocked == 1);
}

}  // namespace
}  // namespace gasmeter::sim::fabric_classes_test
