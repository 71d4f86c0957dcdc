// Copies and fills of ranges of shared objects, between any parts, by a rank that may own neither.
#include "gasmeter/pgas/memory_calls.hpp"

#include <doctest/doctest.h>

#include <vector>

#include "pgas/pgas_world.hpp"
#include "support/pattern.hpp"

namespace gasmeter::pgas::testing::memory_calls_test {
namespace {

using gasmeter::testing::has_pattern;
using gasmeter::testing::is_filled;
using gasmeter::testing::write_pattern;

constexpr Bytes kPart = Bytes{600} * 1024;  // more than two pieces of the copy

TEST_CASE("pieces_are_copied_between_any_two_parts_and_nothing_beside_them") {
  for (const Bytes bytes : {Bytes{0}, Bytes{1}, Bytes{4097}, Bytes{256} * 1024, Bytes{513} * 1024 + 5}) {
    CAPTURE(bytes);
    PgasWorld world({.ranks = 3, .nodes = 3, .segment_bytes = Bytes{2} << 20U});
    world.run([&](Space& space) {
      const Layout layout(3 * kPart, 1, kPart, 3);
      const Handle from = space.all_alloc(layout);
      const Handle to = space.all_alloc(layout);
      write_pattern(space.local(from), kPart, index(space.rank()));
      std::fill_n(space.local(to), kPart, std::byte{0xee});
      space.barrier();
      // Rank 0 copies another's part to a third's, its own to another's, and another's to its own.
      if (space.rank() == Rank{0}) {
        copy(space, {to, Rank{2}, 16}, {from, Rank{1}, 0}, bytes);
        copy(space, {to, Rank{1}, 16}, {from, Rank{0}, 0}, bytes);
        copy(space, {to, Rank{0}, 16}, {from, Rank{2}, 0}, bytes);
      }
      space.barrier();
      const std::byte* const mine = space.local(to);
      CHECK(is_filled(mine, 16, 0xee));
      CHECK(has_pattern(mine + 16, bytes, (index(space.rank()) + 2) % 3));
      CHECK(is_filled(mine + 16 + bytes, kPart - 16 - bytes, 0xee));
    });
  }
}

TEST_CASE("every_byte_of_a_piece_is_filled_and_none_beside_it") {
  for (const Bytes bytes : {Bytes{0}, Bytes{3}, Bytes{256} * 1024 + 1, kPart - 32}) {
    CAPTURE(bytes);
    PgasWorld world({.ranks = 2, .nodes = 2, .segment_bytes = Bytes{2} << 20U});
    world.run([&](Space& space) {
      const Handle object = space.all_alloc(Layout(2 * kPart, 1, kPart, 2));
      std::fill_n(space.local(object), kPart, std::byte{0xee});
      space.barrier();
      if (space.rank() == Rank{1}) {
        for (const Rank owner : {Rank{0}, Rank{1}}) fill(space, {object, owner, 32}, std::byte{0x5a}, bytes);
      }
      space.barrier();
      const std::byte* const mine = space.local(object);
      CHECK(is_filled(mine, 32, 0xee));
      CHECK(is_filled(mine + 32, bytes, 0x5a));
      CHECK(is_filled(mine + 32 + bytes, kPart - 32 - bytes, 0xee));
    });
  }
}

TEST_CASE("piece_that_is_not_an_objects_is_refused") {
  PgasWorld world({.ranks = 2, .nodes = 2});
  world.run([&](Space& space) {
    const Handle object = space.all_alloc(Layout(128, 1, 64, 2));
    if (space.rank() == Rank{0}) {
      CHECK_THROWS_AS(copy(space, {object, Rank{1}, 0}, {object, Rank{0}, 1}, 64), UsageError);
      CHECK_THROWS_AS(copy(space, {object, Rank{1}, 1}, {object, Rank{0}, 0}, 64), UsageError);
      CHECK_THROWS_AS(fill(space, {object, Rank{1}, 65}, std::byte{1}, 1), UsageError);
    }
    space.barrier();
  });
}

}  // namespace
}  // namespace gasmeter::pgas::testing::memory_calls_test
