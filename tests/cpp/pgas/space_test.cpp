// Shared objects on all ranks of a job: their contents, who may access them, and what remains when they are freed.
#include <doctest/doctest.h>

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "gasmeter/base/error.hpp"
#include "gasmeter/base/random.hpp"
#include "gasmeter/pgas/shared_array.hpp"
#include "pgas/pgas_world.hpp"
#include "support/effort.hpp"
#include "support/pattern.hpp"

namespace gasmeter::pgas::testing::space_test {
namespace {

// Return the message of the exception that `body` throws on the ranks.
template <class Body>
std::string refusal(const ModelShape& shape, const SpaceOptions& options, Body body) {
  PgasWorld world(shape, options);
  try {
    world.run(body);
  } catch (const UsageError& error) {
    CHECK(std::string(error.what()).find('\n') == std::string::npos);
    return error.what();
  }
  return "nothing";
}

TEST_CASE("bases_of_one_object_differ_from_rank_to_rank") {
  PgasWorld world({.ranks = 8, .nodes = 8});
  std::set<Bytes> bases;
  world.run([&](Space& space) {
    const Handle object = space.all_alloc(Layout::blocked(64, 8, 8));
    bases.insert(static_cast<Bytes>(space.local(object) - space.endpoint().segment().address));
  });
  CHECK(bases.size() >= 6);
}

// Two ranks of a node share memory: one entry serves both.
TEST_CASE("entry_is_of_a_node_where_ranks_share_memory") {
  for (const Near near : {Near::direct, Near::remote}) {
    PgasWorld world({.ranks = 6, .nodes = 3, .neighbourhood = true}, {.near = near});
    world.run([&](Space& space) {
      SharedArray<ModelHost, std::uint32_t> array = SharedArray<ModelHost, std::uint32_t>::all_blocked(space, 60);
      array.for_each_local([](std::uint64_t i, std::uint32_t& element) { element = static_cast<std::uint32_t>(i); });
      space.barrier();
      for (std::uint64_t i = 0; i < 60; ++i) CHECK(array.get(i) == i);
      space.barrier();
      CHECK(space.entries() == (near == Near::direct ? 2U : 5U));
      CHECK(space.counters().lookups == (near == Near::direct ? 40U : 50U));
      CHECK(space.counters().misses() == space.entries());
      CHECK(space.counters().local_accesses + space.counters().remote_accesses == 60);
      // The first rank of a node is asked first.
      CHECK(space.pins() == (near == Near::direct && index(space.rank()) % 2 == 1 ? 0U : 1U));
    });
  }
}

// All caches have an entry. When free() returns, no rank's cache has one, and its memory has not been used again.
TEST_CASE("freed_object_is_in_no_cache_before_its_memory_is_given_again") {
  for (const int way : {0, 1, 2}) {
    CAPTURE(way);
    constexpr std::uint32_t kRanks = 5;
    PgasWorld world({.ranks = kRanks, .nodes = kRanks});
    std::vector<Handle> made(2);
    world.run([&](Space& space) {
      std::uint64_t word = 0;
      const auto touch = [&](Handle object) {
        for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
          if (space.part(object, Rank{rank}) != 0) space.get(object, Rank{rank}, 0, &word, 8);
        }
      };
      const Layout layout(kRanks, 8, 1, kRanks);
      const bool makes = space.rank() == Rank{2};
      for (Handle& handle : made) {
        if (way == 0) {
          const Handle mine = space.all_alloc(layout);
          if (makes) handle = mine;
        } else if (makes) {
          handle = way == 1 ? space.global_alloc(layout) : space.alloc(8);
        }
        space.barrier();
        touch(handle);
        space.barrier();
      }
      const std::uint32_t before = space.entries();
      space.barrier();
      if (space.rank() == Rank{1}) {
        space.free(made[0]);
        for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
          CHECK(world.space(rank).entries() * 2 == (way == 2 && rank == 2 ? 0U : way == 2 ? 2U : 2 * (kRanks - 1)));
          CHECK_THROWS_AS((void)world.space(rank).part(made[0], Rank{0}), UsageError);
          CHECK(world.space(rank).part(made[1], Rank{2}) == 8);
        }
      }
      space.barrier();
      CHECK(space.entries() * 2 == before);
      CHECK(space.counters().invalidations == before / 2);
      // The next object lies in the place of the freed one.
      const Handle third = space.all_alloc(layout);
      if (way == 0) CHECK(space.local(third) < space.local(made[1]));
      CHECK_THROWS_AS(space.get(made[0], Rank{0}, 0, &word, 8), UsageError);
      space.barrier();
    });
  }
}

TEST_CASE("what_is_not_an_objects_is_refused_in_one_line") {
  const ModelShape shape{.ranks = 3, .nodes = 3};
  const auto with = [&](auto access) {
    return refusal(shape, {}, [&](Space& space) {
      const Handle object = space.all_alloc(Layout(6, 8, 2, 3));
      if (space.rank() == Rank{0}) access(space, object);
      space.barrier();
    });
  };
  std::uint64_t word = 0;
  CHECK(with([&](Space& space, Handle object) { space.get(object, Rank{1}, 16, &word, 8); }) ==
        "rank 0: get of object 0.0 of all: 8 bytes at byte 16 of a part of 16 bytes");
  CHECK(with([&](Space& space, Handle object) { space.put(object, Rank{0}, 9, &word, 8); }) ==
        "rank 0: put of object 0.0 of all: 8 bytes at byte 9 of a part of 16 bytes");
  CHECK(with([&](Space& space, Handle object) { space.get(object, Rank{3}, 0, &word, 8); }) ==
        "rank 0: get of object 0.0 of all at rank 3; ranks are 0..2");
  CHECK(with([&](Space& space, Handle object) {
          space.get(object, Rank{1}, 0, &word, 8);
          space.free(object);
          space.get(object, Rank{1}, 0, &word, 8);
        }) == "rank 0: get of object 0.0 of all, which was freed, or never made");
  CHECK(with([&](Space& space, Handle object) {
          space.free(object);
          space.free(object);
        }) == "rank 0: free of object 0.0 of all, which was freed, or never made");
  CHECK(with([&](Space& space, Handle /*object*/) { space.free(Handle::of(1, 0, 0)); }) ==
        "rank 0: free of object 0.0 of rank 1, which was freed, or never made");
  CHECK(with([&](Space& space, Handle /*object*/) { (void)space.alloc(1 << 20); }).find("has 6") != std::string::npos);
  CHECK(with([&](Space& space, Handle /*object*/) {
          (void)space.global_alloc(Layout(1 << 20, 8, 1, 3));
        }).find("rank 0: shared object of ") == 0);
  CHECK(with([&](Space& space, Handle object) { space.unlock(object); }) ==
        "rank 0: unlock of object 0.0 of all, which it does not hold");
}

TEST_CASE("ranks_that_ask_for_different_things_hear_of_it_and_so_does_who_has_no_room") {
  const ModelShape shape{.ranks = 3, .nodes = 3};
  CHECK(refusal(shape, {}, [](Space& space) {
          (void)space.all_alloc(Layout(6 + index(space.rank()) / 2, 8, 2, 3));
        }).find("another rank asks for other ones") != std::string::npos);
  CHECK(refusal(shape, {}, [](Space& space) {
          (void)space.all_alloc(Layout(1 << 20, 8, 2, 3));
        }).find("a segment has no room for them") != std::string::npos);
}

TEST_CASE("space_without_a_cache_entry_or_with_empty_chunks_is_refused") {
  PgasWorld world({});
  CHECK_THROWS_WITH_AS(check(SpaceOptions{.capacity = 0}), "shared space: capacity=0 entries; 1 or more, or unlimited",
                       UsageError);
  CHECK_THROWS_AS(check(SpaceOptions{.chunk = 0}), UsageError);
}

// The device holds two pages, so that the third object has no room.
TEST_CASE("pin_limit_is_told_in_one_line_that_names_both_ranks") {
  PricedInstallation<false>::pins = conduit::PinLimits{.pages = 2};
  const std::string message = refusal({.ranks = 2, .nodes = 2}, {}, [](Space& space) {
    std::uint64_t word = 0;
    for (int i = 0; i < 3; ++i) {
      const Handle object = space.all_alloc(Layout(2 * 512, 8, 512, 2));
      if (space.rank() == Rank{0}) space.get(object, Rank{1}, 0, &word, 8);
    }
    space.barrier();
  });
  PricedInstallation<false>::pins.reset();
  CAPTURE(message);
  CHECK(message.find("rank 1: message from rank 0") == 0);
  CHECK(message.find("holds at most 2 pages") != std::string::npos);
}

TEST_CASE("locks_are_handed_on_in_the_order_in_which_they_were_asked_for") {
  constexpr std::uint32_t kRanks = 4;
  PgasWorld world({.ranks = kRanks, .nodes = kRanks});
  std::vector<std::uint32_t> order;
  world.run([&](Space& space) {
    const Handle lock = space.all_alloc(Layout(1, 8, 1, kRanks));
    SharedArray<ModelHost, std::uint64_t> sum = SharedArray<ModelHost, std::uint64_t>::all(space, 1, 1);
    if (space.rank() == Rank{0}) *space.local(sum.object()) = std::byte{0};
    if (space.rank() == Rank{0}) sum.put(0, 0);
    space.barrier();
    space.endpoint().compute(SimTime{static_cast<std::int64_t>(index(space.rank())) * 20'000'000});
    for (std::uint64_t i = 0; i < 5; ++i) {
      space.lock(lock);
      order.push_back(index(space.rank()));
      sum.put(0, sum.get(0) + 1);
      space.unlock(lock);
    }
    space.barrier();
    CHECK(sum.get(0) == 5 * kRanks);
    if (space.rank() == Rank{3}) {
      CHECK(space.try_lock(lock));
      CHECK_FALSE(space.try_lock(lock));
      space.unlock(lock);
    }
    space.barrier();  // the lock's home answers until then
  });
  CHECK(order.size() == 5 * kRanks);
}

}  // namespace
}  // namespace gasmeter::pgas::testing::space_test
