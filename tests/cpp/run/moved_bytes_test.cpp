// Bytes of timed blocks: bytes asked for and bytes carried.
#include "gasmeter/run/moved_bytes.hpp"

#include <doctest/doctest.h>

namespace gasmeter::run::moved_bytes_test {
namespace {

bench::Verification found_of(const MovedBytes& moved, bool has_conduits, bool has_links) {
  bench::Verification verification;
  moved.check(verification, has_conduits, has_links);
  return verification;
}

TEST_CASE("bytes_that_neither_conduits_nor_links_carried_are_missed") {
  MovedBytes moved;
  moved.add(100, 100, 164);
  CHECK(found_of(moved, true, true).checked == 2);
  CHECK(found_of(moved, true, true).errors == 0);
  moved.add(100, 90, 164);
  CHECK(found_of(moved, true, true).errors == 1);
  CHECK(found_of(moved, false, true).errors == 0);
  moved.add(100, 150, 0);
  CHECK(found_of(moved, false, true).errors == 0);  // 328 bytes for 300
  moved.add(100, 100, 0);
  CHECK(found_of(moved, false, true).errors == 1);
  CHECK(found_of(moved, true, true).errors == 1);
}

TEST_CASE("blocks_that_do_not_say_what_they_move_are_not_held_against_anything") {
  MovedBytes moved;
  moved.add(0, 0, 0);
  CHECK(found_of(moved, true, true).checked == 0);
}

}  // namespace
}  // namespace gasmeter::run::moved_bytes_test
