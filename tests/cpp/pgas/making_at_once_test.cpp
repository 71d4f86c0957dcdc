// Objects that ranks make at the same time, together and alone, with notices that cross on their way.
#include <doctest/doctest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "gasmeter/base/random.hpp"
#include "pgas/pgas_world.hpp"
#include "support/pattern.hpp"

namespace gasmeter::pgas::testing::making_at_once_test {
namespace {

using gasmeter::testing::has_pattern;
using gasmeter::testing::seed_of;
using gasmeter::testing::write_pattern;

constexpr std::uint32_t kRanks = 5;
constexpr std::uint32_t kRounds = 12;
constexpr Bytes kPart = 64;

struct Made {
  Handle handle;
  std::uint64_t seed = 0;
};

// Check that no two parts of a rank share a byte.
void check_apart(Space& space, const std::vector<Made>& all) {
  std::vector<std::pair<Bytes, Bytes>> parts;
  for (const Made& made : all) {
    const Bytes part = space.part(made.handle, space.rank());
    if (part == 0) continue;
    const auto begin = static_cast<Bytes>(space.local(made.handle) - space.endpoint().segment().address);
    parts.emplace_back(begin, begin + part);
  }
  std::sort(parts.begin(), parts.end());
  for (std::size_t i = 1; i < parts.size(); ++i) CHECK(parts[i - 1].second <= parts[i].first);
}

// One rank makes an object for all, one makes its own, while the others go to a collective allocation, each after its
// own delay. Now and then an older object is freed meanwhile.
TEST_CASE("what_ranks_make_at_the_same_time_lies_apart_on_all_of_them") {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    CAPTURE(seed);
    PgasWorld world({.ranks = kRanks, .nodes = kRanks});
    std::vector<Made> all;
    world.run([&](Space& space) {
      const Layout layout(kRanks * kPart, 1, kPart, kRanks);
      const std::uint32_t me = index(space.rank());
      for (std::uint32_t round = 0; round < kRounds; ++round) {
        const std::uint64_t drawn = seed_of(seed, round, me);
        space.endpoint().compute(SimTime{static_cast<std::int64_t>(drawn % 4'000'000)});
        Handle alone;
        const bool makes = seed_of(seed, round) % kRanks == me;
        const bool has = seed_of(seed, round, 1) % kRanks == me;
        const bool frees = round % 3 == 2 && seed_of(seed, round, 2) % kRanks == me;
        if (makes) alone = space.global_alloc(layout);
        if (frees) {
          space.free(all.front().handle);
          all.erase(all.begin());
        }
        if (has) {
          const Handle single = space.alloc(kPart);
          write_pattern(space.local(single), kPart, seed_of(single.bits(), me));
          all.push_back({single, single.bits()});
        }
        const Handle together = space.all_alloc(layout);
        write_pattern(space.local(together), kPart, seed_of(together.bits(), me));
        if (me == 0) all.push_back({together, together.bits()});
        if (makes) {
          for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
            std::vector<std::byte> bytes(kPart);
            write_pattern(bytes.data(), kPart, seed_of(alone.bits(), rank));
            space.put(alone, Rank{rank}, 0, bytes.data(), kPart);
          }
          space.fence();
          all.push_back({alone, alone.bits()});
        }
        space.barrier();
        check_apart(space, all);
        for (const Made& made : all) {
          for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
            std::vector<std::byte> bytes(space.part(made.handle, Rank{rank}));
            if (bytes.empty()) continue;
            space.get(made.handle, Rank{rank}, 0, bytes.data(), bytes.size());
            CHECK(has_pattern(bytes.data(), bytes.size(), seed_of(made.seed, rank)));
          }
        }
        space.barrier();
      }
    });
  }
}

}  // namespace
}  // namespace gasmeter::pgas::testing::making_at_once_test
