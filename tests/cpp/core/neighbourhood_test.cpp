#include "gasmeter/core/neighbourhood.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "gasmeter/base/error.hpp"
#include "gasmeter/base/real_host.hpp"
#include "gasmeter/core/endpoint.hpp"

namespace gasmeter::core {
namespace {

TEST_CASE("layout_overlaps_nowhere_and_keeps_its_alignment") {
  for (const std::uint32_t ranks : {1U, 2U, 3U, 8U, 17U}) {
    const auto layout = NeighbourhoodLayout::of(ranks, 5000);
    struct Range {
      Bytes from;
      Bytes to;
    };
    std::vector<Range> ranges;
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      for (std::uint32_t round = 0; round < NeighbourhoodLayout::kBarrierRounds; ++round) {
        ranges.push_back({layout.barrier_line(rank, round), layout.barrier_line(rank, round) + kNoSharing});
      }
      for (std::uint32_t to = 0; to < ranks; ++to) {
        for (const bool reply : {false, true}) {
          const Bytes at = layout.ring_at(rank, to, reply);
          CHECK(at % kNoSharing == 0);
          ranges.push_back({at, at + ring::footprint(layout.ring_bytes)});
        }
      }
      CHECK(layout.segment_at(rank) % NeighbourhoodLayout::kPage == 0);
      ranges.push_back({layout.segment_at(rank), layout.segment_at(rank) + layout.segment_bytes});
    }
    std::sort(ranges.begin(), ranges.end(), [](const Range& a, const Range& b) { return a.from < b.from; });
    for (std::size_t i = 1; i < ranges.size(); ++i) CHECK(ranges[i - 1].to <= ranges[i].from);
    CHECK(ranges.back().to <= layout.total());
    CHECK(layout.segment_bytes >= 5000);
  }
}

TEST_CASE("rings_are_powers_of_two_and_take_the_promised_payload") {
  for (std::uint32_t ranks = 1; ranks <= 4096; ranks *= 2) {
    const Bytes ring = NeighbourhoodLayout::of(ranks, 0).ring_bytes;
    CHECK(std::has_single_bit(ring));
    CHECK(ring::largest_payload(ring) >= 512);  // GASNet-EX: at least 512 [EX:AM limit queries]
    if (ranks <= 4) CHECK(ring::largest_payload(ring) >= 64 * 1024);
  }
}

TEST_CASE("segment_holds_what_lies_inside") {
  std::vector<std::byte> memory(100);
  const Segment segment{memory.data() + 10, 80};
  CHECK(segment.holds(memory.data() + 10, 80));
  CHECK(segment.holds(memory.data() + 90, 0));
  CHECK(segment.holds(memory.data() + 89, 1));
  CHECK_FALSE(segment.holds(memory.data() + 89, 2));
  CHECK_FALSE(segment.holds(memory.data() + 9, 1));
  CHECK_FALSE(segment.holds(memory.data() + 9, 0));
  CHECK_FALSE(segment.holds(memory.data() + 10, 81));
  CHECK_FALSE(segment.holds(memory.data() + 20, ~Bytes{0}));
}

TEST_CASE("endpoint_without_a_conduit_needs_every_rank_as_neighbour") {
  const auto layout = NeighbourhoodLayout::of(1, 0);
  std::vector<std::byte> memory(layout.total() + kNoSharing);
  const std::vector<Segment> segments(2);
  const JobView view{Rank{0}, 2, Rank{0}, layout, memory.data(), segments};
  CHECK_THROWS_AS(Endpoint<RealHost>(RealHost(), view), UsageError);
}

}  // namespace
}  // namespace gasmeter::core
