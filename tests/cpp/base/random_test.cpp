#include "gasmeter/base/random.hpp"

#include <doctest/doctest.h>

namespace gasmeter::random_test {
namespace {

// The first outputs for seed 0, as Steele, Lea and Flood's program and Vigna's C translation of it give them.
TEST_CASE("splitmix64: the published sequence") {
  CHECK(splitmix64(0) == 0xe220a8397b1dcdafU);
  CHECK(splitmix64(kGoldenGamma) == 0x6e789e6aa1b965f4U);
  CHECK(splitmix64(2 * kGoldenGamma) == 0x06c45d188009454fU);
  CHECK(splitmix64(3 * kGoldenGamma) == 0xf88bb8a8724c81ecU);
}

}  // namespace
}  // namespace gasmeter::random_test
