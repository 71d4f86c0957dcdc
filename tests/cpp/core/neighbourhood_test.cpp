#include "gasmeter/core/neighbourhood.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "gasmeter/base/error.hpp"
#include "gasmeter/base/real_host.hpp"
#include "gasmeter/core/endpoint.hpp"
#include "gasmeter/sim/engine/model_host.hpp"
#include "support/thread_world.hpp"

namespace gasmeter::core::neighbourhood_test {
namespace {

TEST_CASE("layout_overlaps_nowhere_and_keeps_its_alignment") {
  for (const std::uint32_t ranks : {1U, 2U, 3U, 8U, 17U, 33U}) {
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
      const Bytes bells = layout.bell_at(rank);
      CHECK(bells % kNoSharing == 0);
      ranges.push_back({bells, bells + 8 * layout.bell_words()});
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

// 70 neighbours, so that bells take three words. A rank in virtual time sees only its own bells, replies before
// requests.
TEST_CASE("bells_ring_for_one_neighbour_in_the_order_in_which_rings_are_read") {
  using Model = Neighbourhood<sim::ModelHost>;
  constexpr std::uint32_t kRanks = 70;
  const auto layout = NeighbourhoodLayout::of(kRanks, 0);
  const std::unique_ptr<std::byte[]> memory =
      std::make_unique<std::byte[]>(layout.total() + NeighbourhoodLayout::kPage);
  std::byte* const block = reinterpret_cast<std::byte*>(
      ring::round_up(reinterpret_cast<std::uintptr_t>(memory.get()), NeighbourhoodLayout::kPage));
  const auto at = [&](std::uint32_t neighbour) { return Model(block, layout, Rank{10}, Rank{10 + neighbour}); };
  Model receiver = at(5);
  CHECK(receiver.next_bell(0) == Model::kSilent);
  for (const std::uint32_t sender : {69U, 5U, 0U, 31U, 32U}) {
    Model other = at(sender);
    other.ring_bell(*other.link(Rank{15}), true);
    if (sender != 0) other.ring_bell(*other.link(Rank{15}), false);
  }
  CHECK(at(4).next_bell(0) == Model::kSilent);
  CHECK(at(6).next_bell(0) == Model::kSilent);
  std::vector<std::uint32_t> heard;
  for (std::uint32_t bell = receiver.next_bell(0); bell != Model::kSilent; bell = receiver.next_bell(bell + 1)) {
    heard.push_back(bell);
  }
  std::vector<std::uint32_t> expected{Model::bell_of(0, true)};
  for (const std::uint32_t sender : {5U, 31U, 32U, 69U}) {
    expected.push_back(Model::bell_of(sender, false));
    expected.push_back(Model::bell_of(sender, true));
  }
  CHECK(heard == expected);
  for (const std::uint32_t bell : heard) receiver.silence(bell);
  CHECK(receiver.next_bell(0) == Model::kSilent);
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

// The sender's end of a ring is memory that the peer writes: its records may name any address.
TEST_CASE("a_long_in_a_ring_whose_payload_lies_outside_the_segment_is_refused") {
  constexpr Bytes kSize = 64;
  const auto layout = testing::layout_of(2, 16 * 1024, 8192);
  const std::byte* delivered = nullptr;
  const auto run = [&](std::ptrdiff_t offset) {
    testing::ThreadWorld world(layout, testing::Mapping::one);
    Endpoint<RealHost> endpoint(RealHost(WaitMode::yield), world.view(0), nullptr);
    HandlerEntry<RealHost> entry{{},
                                 [](Token<RealHost>& token) {
                                   token.context_as<const std::byte*>() =
                                       static_cast<const std::byte*>(token.payload());
                                 },
                                 &delivered,
                                 "long"};
    endpoint.register_handlers({&entry, 1});
    std::byte* const block = world.view(0).block;
    RingSender sender(ring::Memory(block + layout.ring_at(1, 0, false), layout.ring_bytes));
    const std::byte* const at = endpoint.segment().address + offset;
    const Bytes length = ring::record(ring::Kind::long_message, 0, kSize);
    std::memcpy(sender.reserve(length) + 8, &at, sizeof at);
    sender.publish_small(ring::Header::pack(entry.index, 0, ring::Kind::long_message, kSize), length);
    delivered = nullptr;
    (void)endpoint.poll();
    return delivered == at;
  };
  CHECK(run(0));
  CHECK(run(8192 - 64));
  for (const std::ptrdiff_t offset : {-1, -64, 8192 - 63, 8192}) {
    CHECK_THROWS_WITH_AS((void)run(offset),
                         "rank 0: Long from rank 1: its payload is announced outside this rank's segment", UsageError);
    CHECK(delivered == nullptr);
  }
}

TEST_CASE("endpoint_without_a_conduit_needs_every_rank_as_neighbour") {
  const auto layout = NeighbourhoodLayout::of(1, 0);
  std::vector<std::byte> memory(layout.total() + kNoSharing);
  const std::vector<Segment> segments(2);
  const JobView view{Rank{0}, 2, Rank{0}, layout, memory.data(), segments};
  CHECK_THROWS_AS(Endpoint<RealHost>(RealHost(), view), UsageError);
}

}  // namespace
}  // namespace gasmeter::core::neighbourhood_test
