#include "gasmeter/pgas/layout.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "gasmeter/base/error.hpp"
#include "gasmeter/base/random.hpp"
#include "support/effort.hpp"

namespace gasmeter::pgas::layout_test {
namespace {

// Check a layout by walking over the array as UPC deals it, element after element.
void expect_dealt(const Layout& layout) {
  std::vector<std::uint64_t> counts(layout.ranks(), 0);
  std::uint32_t owner = 0;
  std::uint64_t phase = 0;
  for (std::uint64_t i = 0; i < layout.elements(); ++i) {
    REQUIRE(layout.owner(i) == Rank{owner});
    REQUIRE(layout.phase(i) == phase);
    REQUIRE(layout.local(i) == counts[owner]);
    REQUIRE(layout.offset(i) == counts[owner] * layout.element());
    REQUIRE(layout.offset(i) + layout.element() <= layout.part());
    REQUIRE(layout.element_of(Rank{owner}, counts[owner]) == i);
    const std::uint64_t run = layout.run(i);
    REQUIRE(run >= 1);
    REQUIRE(layout.owner(i + run - 1) == layout.owner(i));
    REQUIRE(layout.local(i + run - 1) == layout.local(i) + run - 1);
    REQUIRE((i + run == layout.elements() || layout.phase(i + run) == 0));
    ++counts[owner];
    if (++phase == layout.block()) {
      phase = 0;
      owner = (owner + 1) % layout.ranks();
    }
  }
  for (std::uint32_t rank = 0; rank < layout.ranks(); ++rank) CHECK(layout.count(Rank{rank}) == counts[rank]);
}

TEST_CASE("elements_lie_where_they_are_dealt_to") {
  std::uint64_t random = 11;
  const auto below = [&random](std::uint64_t bound) { return (random = splitmix64(random)) % bound; };
  for (std::uint64_t round = 0; round < gasmeter::testing::rounds(300); ++round) {
    const std::uint64_t elements = 1 + below(200);
    const std::uint64_t block = below(40);
    const auto ranks = static_cast<std::uint32_t>(1 + below(9));
    CAPTURE(elements);
    CAPTURE(block);
    CAPTURE(ranks);
    expect_dealt(Layout(elements, 1 + below(16), block, ranks));
    expect_dealt(Layout::blocked(elements, 4, ranks));
  }
}

TEST_CASE("block_0_is_all_at_rank_0_and_none_is_larger_than_the_array") {
  const Layout all(10, 8, 0, 4);
  CHECK(all.count(Rank{0}) == 10);
  CHECK(all.count(Rank{1}) == 0);
  CHECK(all.part() == 80);
  CHECK(Layout(10, 8, 1000, 4) == all);
  CHECK(Layout::blocked(10, 8, 4).part() == 24);
}

TEST_CASE("no_array_is_empty_or_larger_than_memory") {
  CHECK_THROWS_AS(Layout(0, 8, 1, 4), UsageError);
  CHECK_THROWS_AS(Layout(8, 0, 1, 4), UsageError);
  CHECK_THROWS_AS(Layout(std::uint64_t{1} << 62, 64, 1, 2), UsageError);
  CHECK_THROWS_AS(refuse_elements(3, 9, Layout(10, 8, 1, 4)), UsageError);
}

TEST_CASE("arrays_of_more_bytes_than_there_are_are_refused") {
  constexpr std::uint64_t kWide = (std::uint64_t{1} << 61U) - 1;
  CHECK_THROWS_AS(Layout(kWide, 8, 0, 2), UsageError);  // rounded up to whole lines this would be 0 bytes
  CHECK_THROWS_AS(Layout(kWide, 8, 1, 1024), UsageError);
  CHECK_THROWS_AS(Layout(std::uint64_t{1} << 63U, 1, 0, 1), UsageError);
  CHECK_THROWS_AS(Layout(~std::uint64_t{0}, 1, ~std::uint64_t{0}, 2), UsageError);
  CHECK_THROWS_AS(Layout(3, ~std::uint64_t{0}, 2, 2), UsageError);
  CHECK_THROWS_AS((void)Layout::blocked(~std::uint64_t{0}, 1, 3), UsageError);
  CHECK(Layout(std::uint64_t{1} << 40U, 8, 0, 2).bytes() == std::uint64_t{1} << 43U);
}

}  // namespace
}  // namespace gasmeter::pgas::layout_test
