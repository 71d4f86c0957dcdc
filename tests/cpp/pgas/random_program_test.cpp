// Random programs of allocations, frees and accesses, against one plain memory: with and without cache, by copies and
// rendezvous, in whole parts and in pieces. A model of the cache checks the counters.
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <cstring>
#include <vector>

#include "gasmeter/base/random.hpp"
#include "kernels/jobs.hpp"
#include "pgas/pgas_world.hpp"
#include "support/effort.hpp"
#include "support/pattern.hpp"

namespace gasmeter::pgas::testing::random_program_test {
namespace {

constexpr std::uint32_t kRanks = 4;
constexpr Bytes kSegment = 256 * 1024;

// State of the run that all ranks know, since the same random numbers lead them.
struct Known {
  Handle handle;
  bool is_common = false;
  std::vector<std::vector<std::byte>> parts;  // by rank; empty: no part
};

// Handle that one rank makes and the others read, behind a barrier. It is atomic for the thread sanitizer, which does
// not see that ranks with different mappings meet in one word.
struct Board {
  std::atomic<std::uint64_t> handle;
};

template <class H>
class Walker {
 public:
  Walker(SharedSpace<H>& space, Board& board, std::uint64_t seed) : space_(space), board_(board), random_(seed) {}

  void walk(int steps) {
    for (int step = 0; step < steps; ++step) {
      const std::uint64_t act = below(10);
      if (act < 2 || objects_.empty()) {
        make();
      } else if (act == 2 && objects_.size() > 2) {
        free();
      } else {
        access();
      }
    }
    while (!objects_.empty()) free();
    space_.barrier();
    CHECK(space_.entries() == 0);
    CHECK(space_.pins() == 0);
  }

 private:
  std::uint64_t below(std::uint64_t bound) { return (random_ = splitmix64(random_)) % bound; }
  [[nodiscard]] std::uint32_t me() { return index(space_.rank()); }

  void make() {
    const auto maker = static_cast<std::uint32_t>(below(kRanks));
    const std::uint64_t way = below(3);
    const Layout layout(1 + below(300), 1 + below(12), below(30), kRanks);
    Known object;
    object.is_common = way == 0;
    if (way == 0) {
      object.handle = space_.all_alloc(layout);
    } else {
      if (me() == maker) {
        board_.handle =
            std::bit_cast<std::uint64_t>(way == 1 ? space_.global_alloc(layout) : space_.alloc(layout.part()));
      }
      space_.barrier();
      object.handle = std::bit_cast<Handle>(board_.handle.load());
    }
    object.parts.resize(kRanks);
    for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
      if (way == 2 && rank != maker) continue;
      object.parts[rank].assign(layout.part(), std::byte{0});
      CHECK(space_.part(object.handle, Rank{rank}) == layout.part());
      if (rank == me()) std::memset(space_.local(object.handle), 0, layout.part());
    }
    space_.barrier();
    objects_.push_back(std::move(object));
  }

  void free() {
    const std::size_t victim = below(objects_.size());
    const auto by = static_cast<std::uint32_t>(below(kRanks));
    const bool together = below(2) == 0;
    space_.barrier();
    if (objects_[victim].is_common && together) {
      space_.all_free(objects_[victim].handle);
    } else if (me() == by) {
      space_.free(objects_[victim].handle);
    }
    space_.barrier();
    CHECK_THROWS_AS((void)space_.part(objects_[victim].handle, Rank{0}), UsageError);
    objects_.erase(objects_.begin() + static_cast<std::ptrdiff_t>(victim));
  }

  // One rank writes a range and reads it back; all ranks read it after a barrier.
  void access() {
    Known& object = objects_[below(objects_.size())];
    const auto by = static_cast<std::uint32_t>(below(kRanks));
    auto owner = static_cast<std::uint32_t>(below(kRanks));
    while (object.parts[owner].empty()) owner = (owner + 1) % kRanks;
    std::vector<std::byte>& part = object.parts[owner];
    const Bytes offset = below(part.size());
    const Bytes bytes = below(part.size() - offset + 1);
    const std::uint64_t seed = below(UINT64_MAX);
    const bool blocking = below(2) == 0;
    std::vector<std::byte> data = gasmeter::testing::patterned(bytes, seed);
    std::copy(data.begin(), data.end(), part.begin() + static_cast<std::ptrdiff_t>(offset));  // 0 bytes are allowed
    if (me() == by) {
      if (blocking) {
        space_.put(object.handle, Rank{owner}, offset, data.data(), bytes);
        std::fill(data.begin(), data.end(), std::byte{0xee});  // the source is free
        expect(object, owner, offset, bytes);
      } else {
        core::Event event = space_.put_nb(object.handle, Rank{owner}, offset, data.data(), bytes);
        space_.wait(event);
      }
    }
    space_.barrier();
    expect(object, owner, offset, bytes);
    expect(object, owner, 0, part.size());
    space_.barrier();
  }
  void expect(const Known& object, std::uint32_t owner, Bytes offset, Bytes bytes) {
    std::vector<std::byte> data_read(bytes);
    space_.get(object.handle, Rank{owner}, offset, data_read.data(), bytes);
    CHECK(std::equal(data_read.begin(), data_read.end(),
                     object.parts[owner].begin() + static_cast<std::ptrdiff_t>(offset)));
  }

  SharedSpace<H>& space_;
  Board& board_;
  std::uint64_t random_;
  std::vector<Known> objects_;
};

std::vector<SpaceOptions> variants() {
  std::vector<SpaceOptions> all;
  for (const CacheUse cache : {CacheUse::on, CacheUse::off, CacheUse::miss}) {
    for (const Pinning pinning : {Pinning::everything, Pinning::chunks}) {
      SpaceOptions options;
      options.cache = cache;
      options.pinning = pinning;
      options.chunk = 700;
      options.capacity = pinning == Pinning::chunks ? 9 : 3;
      options.copy_limit = cache == CacheUse::miss ? 5000 : 300;
      options.replacement = cache == CacheUse::on ? Replacement::lru : Replacement::random;
      options.cached_puts = pinning == Pinning::everything;
      all.push_back(options);
    }
  }
  return all;
}

TEST_CASE("random_programs_on_virtual_ranks_find_what_one_memory_would_hold") {
  for (const SpaceOptions& options : variants()) {
    for (const bool neighbourhood : {false, true}) {
      for (std::uint64_t seed = 1; seed <= gasmeter::testing::rounds(2); ++seed) {
        PgasWorldOn<true> world(
            {.ranks = kRanks, .nodes = 2, .neighbourhood = neighbourhood, .segment_bytes = kSegment}, options);
        Board board;
        world.run([&](Space& space) { Walker<ModelHost>(space, board, seed).walk(60); });
      }
    }
  }
}

TEST_CASE("random_programs_on_real_ranks_find_what_one_memory_would_hold") {
  using gasmeter::kernels::testing::in_threads;
  for (SpaceOptions options : variants()) {
    for (const Near near : {Near::direct, Near::remote}) {
      options.near = near;
      const gasmeter::testing::ThreadWorld memory(gasmeter::testing::layout_of(kRanks, 16 * 1024, kSegment),
                                                  gasmeter::testing::Mapping::each);
      Board board;
      in_threads(kRanks, [&](std::uint32_t rank) {
        core::Endpoint<RealHost> endpoint(RealHost(WaitMode::yield), memory.view(rank));
        SharedSpace<RealHost> space(endpoint, options);
        endpoint.barrier();
        Walker<RealHost>(space, board, 7).walk(static_cast<int>(gasmeter::testing::rounds(40)));
        endpoint.barrier();
      });
    }
  }
}

}  // namespace
}  // namespace gasmeter::pgas::testing::random_program_test
