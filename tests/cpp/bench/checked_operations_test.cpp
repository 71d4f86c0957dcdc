// The number of operations of a verification.
#include <doctest/doctest.h>

#include "gasmeter/bench/pattern.hpp"

namespace gasmeter::bench::checked_operations_test {
namespace {

TEST_CASE("a_verification_makes_as_many_operations_as_were_timed_within_limits") {
  const auto after = [](Bytes size, std::uint64_t timed) {
    CheckedOperations operations(size);
    operations.timed(timed);
    return operations.count();
  };
  CHECK(CheckedOperations(8).count() == 8);  // nothing was timed yet
  CHECK(after(8, 3) == 8);
  CHECK(after(8, 16) == 16);
  CHECK(after(8, 5000) == 100);
  CHECK(after(0, 5000) == 100);
  CHECK(after(32'768, 5000) == 32);  // 1 MiB
  CHECK(after(32'768, 16) == 16);
  CHECK(after(4 << 20, 5000) == 8);
}

TEST_CASE("the_longest_block_counts") {
  CheckedOperations operations(8);
  operations.timed(40);
  operations.timed(8);
  CHECK(operations.count() == 40);
}

}  // namespace
}  // namespace gasmeter::bench::checked_operations_test
