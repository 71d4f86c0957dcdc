#include "gasmeter/pgas/directory/segment_parts.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "gasmeter/base/error.hpp"
#include "gasmeter/base/random.hpp"
#include "support/effort.hpp"

namespace gasmeter::pgas::segment_parts_test {
namespace {

struct Part {
  Bytes base;
  Bytes bytes;
};

void expect_apart(const std::vector<Part>& parts, Bytes first, Bytes end) {
  for (std::size_t i = 0; i < parts.size(); ++i) {
    REQUIRE(parts[i].base >= first);
    REQUIRE(parts[i].base % SegmentParts::kAlignment == 0);
    REQUIRE(parts[i].base + parts[i].bytes <= end);
    for (std::size_t j = 0; j < i; ++j) {
      REQUIRE((parts[i].base + parts[i].bytes <= parts[j].base || parts[j].base + parts[j].bytes <= parts[i].base));
    }
  }
}

TEST_CASE("parts_never_overlap_and_all_room_comes_back") {
  constexpr Bytes kFirst = 100;
  constexpr Bytes kEnd = 32 * 1024;
  for (std::uint64_t seed = 1; seed <= testing::rounds(6); ++seed) {
    std::uint64_t random = seed;
    const auto below = [&random](std::uint64_t bound) { return (random = splitmix64(random)) % bound; };
    SegmentParts segment(kFirst, kEnd, static_cast<std::uint32_t>(seed));
    const Bytes all = segment.left();
    std::vector<Part> parts;
    bool was_full = false;
    for (int step = 0; step < 1500; ++step) {
      if (below(5) < 3) {
        const Bytes bytes = below(3000);
        const std::optional<Bytes> base = below(2) == 0 ? segment.take_common(bytes) : segment.take_own(bytes);
        if (base) parts.push_back({*base, bytes});
        was_full = was_full || !base;
      } else if (!parts.empty()) {
        const std::size_t which = below(parts.size());
        segment.give_back(parts[which].base, parts[which].bytes);
        parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(which));
      }
      if (step % 20 == 0) expect_apart(parts, kFirst, kEnd);
    }
    CHECK(was_full);
    for (const Part& part : parts) segment.give_back(part.base, part.bytes);
    CHECK(segment.left() == all);
  }
}

// Objects that one rank of a node makes alone do not move collective ones.
TEST_CASE("common_parts_lie_alike_whatever_else_a_rank_has") {
  SegmentParts first(0, 1 << 20, 3);
  SegmentParts second(0, 1 << 20, 3);
  (void)second.take_own(5000);
  std::vector<Part> parts;
  for (const Bytes bytes : {100U, 7000U, 64U}) {
    const std::optional<Bytes> base = first.take_common(bytes);
    REQUIRE(base);
    CHECK(second.take_common(bytes) == base);
    parts.push_back({*base, bytes});
  }
  for (SegmentParts* each : {&first, &second}) each->give_back(parts[1].base, parts[1].bytes);
  CHECK(first.take_common(6000) == parts[1].base);
  CHECK(second.take_common(6000) == parts[1].base);
}

TEST_CASE("bases_differ_from_node_to_node") {
  std::set<Bytes> bases;
  for (std::uint32_t node = 0; node < 16; ++node) bases.insert(*SegmentParts(0, 1 << 16, node).take_common(8));
  CHECK(bases.size() >= 12);
  CHECK(*bases.rbegin() < SegmentParts::kStagger);
}

TEST_CASE("what_was_not_taken_is_not_given_back") {
  SegmentParts segment(0, 1 << 16, 1);
  const Bytes base = *segment.take_common(100);
  const Bytes local = *segment.take_own(100);
  segment.give_back(base, 100);
  segment.give_back(local, 100);
  CHECK_THROWS_AS(segment.give_back(base, 100), UsageError);
  CHECK_THROWS_AS(segment.give_back(1 << 20, 100), UsageError);
  CHECK_FALSE(segment.take_common(1 << 16));
  CHECK_FALSE(SegmentParts(0, 10, 1).take_own(1));
}

}  // namespace
}  // namespace gasmeter::pgas::segment_parts_test
