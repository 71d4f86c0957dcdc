// Firehose for local memory: a random program and what is pinned meanwhile, and each rule alone.
#include "gasmeter/services/firehose_local.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <random>
#include <vector>

#include "support/effort.hpp"

namespace gasmeter::services::firehose_local_test {
namespace {

using conduit::Pages;

constexpr Bytes kPage = conduit::kPageBytes;
constexpr std::uint64_t kFirst = ModelledAddresses::kObjects / kPage;

const std::byte* real(std::uint64_t address) {
  return reinterpret_cast<const std::byte*>(static_cast<std::uintptr_t>(address));  // never dereferenced
}

struct Told {
  bool pin;
  Pages pages;
  bool operator==(const Told&) const = default;
};

// Descriptors of memory. Creating and destroying one have a fixed price and a price per page.
struct Descriptors {
  std::vector<Told> log;
  std::map<std::uint64_t, Pages> live;  // live descriptors by number
  std::uint64_t created = 0;
  std::uint64_t cost = 0;
};
struct DescriptorPinner {
  using Handle = std::uint64_t;
  Descriptors* descriptors;
  std::optional<Handle> pin(const Pages& pages) {
    descriptors->log.push_back({true, pages});
    descriptors->live.emplace(descriptors->created, pages);
    descriptors->cost += 1000 + 10 * pages.count;
    return descriptors->created++;
  }
  void unpin(const Pages& pages, Handle handle) {
    REQUIRE(descriptors->live.at(handle) == pages);
    descriptors->live.erase(handle);
    descriptors->log.push_back({false, pages});
    descriptors->cost += 100 + pages.count;
  }
};
using Firehoses = LocalFirehoses<DescriptorPinner>;
using Log = std::vector<Told>;

struct Fixture {
  Descriptors descriptors;
  DescriptorPinner pinner{&descriptors};

  // Do a transfer in pieces, each done before the next; return the number of pieces.
  std::uint64_t transfer(Firehoses& firehoses, std::uint64_t address, Bytes bytes) {
    std::uint64_t pieces = 0;
    for (Bytes done = 0; done < bytes; ++pieces) {
      const Firehoses::Piece piece = firehoses.acquire(real(address + done), bytes - done);
      REQUIRE(piece.region != kNoRegion);
      firehoses.release(piece.region);
      done += piece.bytes;
    }
    return pieces;
  }
};

TEST_CASE_FIXTURE(Fixture, "the_first_use_creates_a_region_of_whole_pages_and_the_next_one_finds_it") {
  Firehoses firehoses(pinner);
  const Firehoses::Piece piece = firehoses.acquire(real(50'000), 5'000);
  CHECK((piece.bytes == 5'000 && piece.offset == 0));
  CHECK(descriptors.log == Log{{true, {kFirst, 2}}});
  CHECK(descriptors.cost == 1'020);
  const Firehoses::Piece again = firehoses.acquire(real(50'100), 100);
  CHECK((again.region == piece.region && again.offset == 100));
  firehoses.release(piece.region);
  firehoses.release(again.region);
  CHECK(descriptors.cost == 1'020);
  CHECK(firehoses.counters().hits == 1);
}

TEST_CASE_FIXTURE(Fixture, "a_region_that_grows_is_created_before_the_old_one_is_destroyed_at_the_next_call") {
  Firehoses firehoses(pinner);
  (void)transfer(firehoses, 100'000, 3 * kPage);
  // Overlaps the first region: 4 pages.
  const Firehoses::Piece longer = firehoses.acquire(real(100'000 + 2 * kPage), 2 * kPage);
  CHECK(descriptors.log == Log{{true, {kFirst, 3}}, {true, {kFirst, 4}}});
  CHECK(descriptors.cost == 1'030 + 1'040);
  firehoses.release(longer.region);
  CHECK(descriptors.log.back() == Told{false, {kFirst, 3}});
  CHECK(descriptors.cost == 1'030 + 1'040 + 103);
}

TEST_CASE_FIXTURE(Fixture, "what_is_replaced_in_use_is_destroyed_with_its_last_use") {
  Firehoses firehoses(pinner);
  const Firehoses::Piece first = firehoses.acquire(real(100'000), kPage);
  const Firehoses::Piece same = firehoses.acquire(real(100'000), 1);
  const Firehoses::Piece second = firehoses.acquire(real(100'000), 2 * kPage);
  CHECK(second.region != first.region);
  firehoses.release(first.region);
  CHECK(descriptors.live.size() == 2);
  firehoses.release(same.region);
  CHECK(descriptors.log.back() == Told{false, {kFirst, 1}});
  firehoses.release(second.region);
  CHECK(descriptors.live.size() == 1);
}

TEST_CASE_FIXTURE(Fixture, "a_long_transfer_is_one_of_several_pieces") {
  Firehoses firehoses(pinner);
  CHECK(firehoses.longest_region() == 131'072);
  CHECK(firehoses.longest_piece() == 126'976);  // 124 KiB: the longest payload of a Long
  CHECK(transfer(firehoses, 1'000'000, 300'000) == 3);
  CHECK(descriptors.log == Log{{true, {kFirst, 32}}, {true, {kFirst + 32, 32}}, {true, {kFirst + 64, 10}}});
  CHECK(transfer(firehoses, 1'000'000, 300'000) == 3);
  CHECK(descriptors.log.size() == 3);
  CHECK(transfer(firehoses, 1'000'000 + 4'095, 126'976) == 1);  // 32 pages from the first on
  CHECK(transfer(firehoses, 1'000'000 + 4'095, 126'978) == 2);
}

TEST_CASE_FIXTURE(Fixture, "sizes_of_regions_that_are_no_whole_pages_are_refused") {
  CHECK_THROWS_WITH_AS(Firehoses(pinner, {.region = 10'000}),
                       "firehose: regions of at most 10000 B; allowed are whole pages of 4096 B, 2 or more",
                       UsageError);
  CHECK_THROWS_AS(Firehoses(pinner, {.region = 4'096}), UsageError);
  CHECK_THROWS_AS(Firehoses(pinner, {.region = 0}), UsageError);
}

TEST_CASE_FIXTURE(Fixture, "a_working_set_is_encompassed_after_few_calls_and_never_missed_again") {
  for (const Bytes memory : {Bytes{100'000}, Bytes{1'000'000}}) {
    CAPTURE(memory);
    Firehoses firehoses(pinner);
    firehoses.place_segment({real(0x10'0000), memory});
    std::mt19937_64 random(5);
    std::uint64_t pins = 0;
    for (int round = 0; round < 8; ++round) {
      pins = firehoses.counters().pins;
      for (int i = 0; i < 500; ++i) {
        const Bytes bytes = 1 + random() % 8'192;
        (void)transfer(firehoses, 0x10'0000 + random() % (memory - bytes), bytes);
      }
    }
    if (memory <= firehoses.longest_region()) {
      CHECK(firehoses.counters().pins == pins);
      CHECK(firehoses.cache().pinned_regions() == 1);
    } else {
      CHECK(firehoses.counters().pins - pins < 25);  // of 500, across the ends of regions of the largest size
    }
    CHECK(firehoses.counters().evictions == 0);
  }
}

TEST_CASE_FIXTURE(Fixture, "of_more_than_there_may_be_the_region_unused_for_longest_goes") {
  Firehoses firehoses(pinner, {.regions = 2});
  for (const std::uint64_t object : {1U, 2U, 1U, 3U}) (void)transfer(firehoses, object * 1'000'000, 100);
  const std::uint64_t second = kFirst + ModelledAddresses::kSegment / kPage;
  CHECK(descriptors.log[2] == Told{false, {second, 1}});
  CHECK(firehoses.counters().evictions == 1);
  const Firehoses::Piece first = firehoses.acquire(real(1'000'000), 100);
  const Firehoses::Piece third = firehoses.acquire(real(3'000'000), 100);
  CHECK(firehoses.acquire(real(2'000'000), 100).region == kNoRegion);  // both regions are in use
  firehoses.release(first.region);
  CHECK(firehoses.acquire(real(2'000'000), 100).bytes == 100);
  firehoses.release(third.region);
}

TEST_CASE_FIXTURE(Fixture, "what_transfers_cost_does_not_depend_on_where_memory_lies") {
  std::vector<std::uint64_t> costs;
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    Descriptors counted;
    Firehoses firehoses({&counted}, {.regions = 6});
    std::mt19937_64 places(seed);
    std::vector<std::uint64_t> objects;  // in random order, at any byte of a page
    for (std::uint64_t i = 0; i < 8; ++i) objects.push_back((i << 30U) + 1 + places() % 1'000'000);
    std::shuffle(objects.begin(), objects.end(), places);
    std::mt19937_64 random(7);
    for (int i = 0; i < 2'000; ++i) {
      const std::uint64_t object = objects[random() % objects.size()];
      (void)transfer(firehoses, object + random() % 200'000, 1 + random() % 200'000);
    }
    costs.push_back(counted.cost);
  }
  CHECK((costs[0] == costs[1] && costs[1] == costs[2]));
}

// A random program against the guarantees of the class, at every step.
TEST_CASE("no_region_in_use_dies_and_limits_hold_whatever_a_program_transfers") {
  std::uint64_t split = 0;
  std::uint64_t evictions = 0;
  std::uint64_t refused = 0;
  std::uint64_t joined = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    const auto below = [&](std::uint64_t end) { return random() % end; };
    FirehoseLimits limits;
    limits.region = (2 + below(7)) * kPage;
    limits.regions = 1 + below(10);
    if (seed % 2 == 0) limits.pages = 4 + below(30);
    Descriptors descriptors;
    Firehoses firehoses({&descriptors}, limits);
    constexpr std::uint64_t kMemory = 0x7000'0000;
    const Bytes memory = (8 + below(60)) * kPage;
    firehoses.place_segment({real(kMemory), memory});  // for plain addresses
    const std::uint64_t base = ModelledAddresses::kSegment;
    struct Use {
      Firehoses::Piece piece;
      Pages pages;
    };
    std::vector<Use> uses;
    const std::uint64_t steps = testing::rounds(600);
    for (std::uint64_t step = 0; step < steps; ++step) {
      if (uses.size() < 6 && below(2) == 0) {
        const Bytes bytes = 1 + below(std::min<Bytes>(memory, 12 * kPage));
        const Bytes begin = below(memory - bytes + 1);
        Bytes done = 0;
        while (done < bytes) {
          const std::size_t before = descriptors.log.size();
          const Firehoses::Piece piece = firehoses.acquire(real(kMemory + begin + done), bytes - done);
          if (piece.region == kNoRegion) {
            ++refused;
            break;
          }
          const Pages asked = conduit::pages_of(base + begin + done, piece.bytes);
          const Pages region = firehoses.cache().pages(piece.region);
          CHECK(region.holds(asked));
          CHECK(region.first * kPage + piece.offset == base + begin + done);
          CHECK(region.count * kPage <= firehoses.longest_region());
          CHECK((piece.bytes == bytes - done || asked.count * kPage == firehoses.longest_region()));
          for (std::size_t i = before; i < descriptors.log.size(); ++i)
            joined += descriptors.log[i].pin && region != asked;
          uses.push_back({piece, asked});
          done += piece.bytes;
          split += done != bytes ? 1 : 0;
        }
        CHECK((done == bytes || !uses.empty()));  // only memory in use leaves no room
      } else if (!uses.empty()) {
        std::swap(uses[below(uses.size())], uses.back());
        firehoses.release(uses.back().piece.region);
        uses.pop_back();
      }
      // Every use has a live descriptor that covers its pages.
      for (const Use& use : uses) {
        const auto live = descriptors.live.find(firehoses.cache().handle(use.piece.region));
        REQUIRE(live != descriptors.live.end());
        CHECK(live->second.holds(use.pages));
      }
      std::uint64_t pages = 0;
      for (const auto& [number, each] : descriptors.live) pages += each.count;
      CHECK(descriptors.live.size() <= limits.regions);
      CHECK((limits.pages == 0 || pages <= limits.pages));
      CHECK(firehoses.cache().pinned_pages() == pages);
    }
    for (const Use& use : uses) firehoses.release(use.piece.region);
    firehoses.cache().flush();
    CHECK(descriptors.live.empty());
    CHECK(firehoses.counters().pins == firehoses.counters().unpins);
    evictions += firehoses.counters().evictions;
  }
  CHECK((split > 0 && evictions > 0 && refused > 0 && joined > 0));
}

}  // namespace
}  // namespace gasmeter::services::firehose_local_test
