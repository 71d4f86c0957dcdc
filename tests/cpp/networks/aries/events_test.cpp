// Events of completion queues when posts of all kinds meet: their contents, their order, and the posts that are
// refused.
#include <doctest/doctest.h>

#include <cstdint>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "gasmeter/base/error.hpp"
#include "networks/aries/world.hpp"
#include "support/pattern.hpp"

namespace gasmeter::networks::aries::events_test {
namespace {

using namespace testing;
using gasmeter::testing::has_pattern;
using gasmeter::testing::is_filled;
using gasmeter::testing::write_pattern;

TEST_CASE("aries_cq_write") {
  World world;
  world.engine.start(Rank{0}, [&] {
    PostDescriptor post = world.transfer(PostType::cq_write, 0, 1, 0);
    post.control = 0x123456789abcdef0;
    world.domain(0).post_cq_write(world.endpoint(0, 1), post);
    CHECK(world.host(0).now().ps == 48'000);
    CHECK(wait_for_event(world, 0, world.completions[0]).type == EventType::global);
    CHECK(world.host(0).now().ps == 1'008'000);
  });
  world.engine.start(Rank{1}, [&] {
    const CqEvent event = wait_for_event(world, 1, world.arrivals[1]);
    CHECK(event.type == EventType::control);
    CHECK(event.data == 0x123456789abcdef0);
    CHECK(event.peer == Rank{0});
    CHECK(world.host(1).now().ps == 680'000);
  });
  world.engine.run();
}

TEST_CASE("aries_a_rank_reaches_itself_through_its_card") {
  World world;
  write_pattern(world.at(0), 8, 1);
  world.engine.start(Rank{0}, [&] {
    world.domain(0).post_fma(world.endpoint(0, 0),
                             world.transfer(PostType::fma_put, 0, 0, 8, kGlobalEvent | kRemoteEvent));
    CHECK(wait_for_event(world, 0, world.arrivals[0]).type == EventType::remote);
    CHECK(world.host(0).now().ps == 458'000);  // 356
    CHECK(wait_for_event(world, 0, world.completions[0]).type == EventType::global);
    CHECK(world.host(0).now().ps == 558'000);  // 456
  });
  world.engine.start(Rank{1}, [] {});
  world.engine.run();
  CHECK(has_pattern(world.at(0, 256), 8, 1));
}

// Posts of 8 and 3000 B of two ranks of a node take turns, piece by piece.
TEST_CASE("aries_windows_of_a_node_take_turns") {
  World world({.ranks = 3, .node_of = {0, 0, 1}});
  world.engine.start(Rank{0}, [&] {
    world.domain(0).post_fma(world.endpoint(0, 2), world.transfer(PostType::fma_put, 0, 2, 3000));
    (void)wait_for_event(world, 0, world.completions[0]);
  });
  world.engine.start(Rank{1}, [&] {
    PostDescriptor post = world.transfer(PostType::fma_put, 1, 2, 8);
    post.remote = world.at(2, 4096);
    world.domain(1).post_fma(world.endpoint(1, 2), post);
    (void)wait_for_event(world, 1, world.completions[1]);
    // The put is stored behind the first piece, 1072, when the second piece waits for the first link, from 688 on. The
    // link is free at 2856: 2888, tail 3088, 3388. The acknowledgement is back at 3712.
    CHECK(world.host(1).now().ps == 3'818'000);
  });
  world.engine.start(Rank{2}, [] {});
  world.engine.run();
}

// ---- LOCAL and GLOBAL, beside other posts

struct Outcome {
  std::vector<std::int64_t> clocks;
  std::uint64_t locals = 0;
};

Outcome schedule(const Shape& shape, std::uint64_t seed, const AriesParameters& parameters = {}) {
  constexpr unsigned kPosts = 40;
  constexpr Bytes kPart = 4096;  // memory for each post of a rank: one half of its own, one half for a peer
  World world(shape, parameters, (kPosts + shape.ranks) * kPart * 2);
  Outcome outcome{std::vector<std::int64_t>(shape.ranks), 0};
  std::vector<std::uint64_t> locals(shape.ranks);
  const auto peer_of = [&](unsigned rank, unsigned i) { return (rank + i % shape.ranks) % shape.ranks; };
  for (unsigned rank = 0; rank < shape.ranks; ++rank) {
    for (unsigned i = 0; i < kPosts; ++i) write_pattern(world.at(rank, 2 * kPart * i), kPart, 1000 * rank + i);
    for (unsigned i = 0; i < kPosts; ++i) write_pattern(world.at(rank, 2 * kPart * i + kPart), kPart, 1000 * rank + i);
  }
  for (unsigned rank = 0; rank < shape.ranks; ++rank) {
    world.engine.start(Rank{rank}, [&, rank] {
      std::mt19937_64 random(seed * 100 + rank);
      std::vector<CqMode> seen(kPosts);
      std::vector<PostDescriptor> posts(kPosts);
      unsigned expected = 0;
      const auto take = [&] {
        const CqEvent event = wait_for_event(world, rank, world.completions[rank]);
        --expected;
        const PostDescriptor& post = posts[event.data];
        CHECK((seen[event.data] & kGlobalEvent) == 0);  // no event comes after it, and none twice
        const CqMode kind = event.type == EventType::local ? kLocalEvent : kGlobalEvent;
        CHECK((seen[event.data] & kind) == 0);
        seen[event.data] |= kind;
        auto* const local = static_cast<std::byte*>(const_cast<void*>(post.local));
        if (kind == kLocalEvent) {
          ++locals[rank];
          // The source may change: the target receives the old bytes.
          if (is_put(post.type)) std::memset(local, 0xee, post.length);
        } else if (is_put(post.type)) {
          CHECK(has_pattern(post.remote, post.length, 1000 * rank + event.data));
        } else {
          CHECK(has_pattern(local, post.length, 1000 * index(post.remote_memory.owner) + event.data));
        }
      };
      for (unsigned i = 0; i < kPosts; ++i) {
        const unsigned peer = peer_of(rank, i);
        const auto kind = random() % 4;
        const bool put = kind < 2;
        const bool by_engine = kind % 2 != 0;
        const Bytes most = random() % 2 == 0 ? 16 : kPart / 4;
        PostDescriptor& post = posts[i];
        post.post_id = i;
        post.type = put ? (by_engine ? PostType::rdma_put : PostType::fma_put)
                        : (by_engine ? PostType::rdma_get : PostType::fma_get);
        post.length = 4 * (1 + random() % most);
        post.cq_mode = kGlobalEvent | (random() % 3 != 0 ? kLocalEvent : kNoEvent);
        // The first half of a part is its rank's own. The second half is for the single peer whose post has the number.
        post.local = world.at(rank, 2 * kPart * i);
        post.remote = world.at(peer, 2 * kPart * i + kPart);
        post.local_memory = world.handles[rank];
        post.remote_memory = world.handles[peer];
        by_engine ? world.domain(rank).post_rdma(world.endpoint(rank, peer), post)
                  : world.domain(rank).post_fma(world.endpoint(rank, peer), post);
        expected += (post.cq_mode & kLocalEvent) != 0 ? 2 : 1;
        while (expected > random() % 24) take();
      }
      while (expected != 0) take();
      for (unsigned i = 0; i < kPosts; ++i) CHECK(seen[i] == posts[i].cq_mode);
      outcome.clocks[rank] = world.host(rank).now().ps;
    });
  }
  world.engine.run();
  for (const std::uint64_t each : locals) outcome.locals += each;
  return outcome;
}

TEST_CASE("aries_local_is_never_behind_global") {
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    CAPTURE(seed);
    const Outcome outcome = schedule({.ranks = 5, .topology = "torus2d:3x1", .node_of = {0, 0, 1, 2, 2}}, seed);
    CHECK(outcome.locals > 50);
  }
}

TEST_CASE("aries_posts_are_the_same_lazily_strictly_and_on_any_number_of_threads") {
  for (const std::string topology : {"torus2d:3x2", "crossbar:6", "dragonfly:2x2x2"}) {
    CAPTURE(topology);
    const Shape shape{.ranks = 6, .topology = topology, .node_of = {0, 0, 1, 2, 3, 5}};
    const Outcome lazy = schedule(shape, 77, {.grain = 256});
    for (const unsigned threads : {1U, 2U, 3U, 4U}) {
      for (const bool strict : {false, true}) {
        Shape other = shape;
        other.threads = threads;
        other.strict = strict;
        CAPTURE(threads);
        CAPTURE(strict);
        CHECK(schedule(other, 77, {.grain = 256}).clocks == lazy.clocks);
      }
    }
  }
}

// ---- refusals

template <class Failure>
std::string failure_of(const std::function<void(World&)>& act, std::uint32_t entries = 1024) {
  World world({}, {}, 8192, entries);
  world.engine.start(Rank{0}, [&] {
    act(world);
    sleep_until(world.host(0), {30'000'000});
  });
  world.engine.start(Rank{1}, [&] { sleep_until(world.host(1), {30'000'000}); });
  try {
    world.engine.run();
  } catch (const Failure& error) {
    return error.what();
  }
  return "";
}

std::string misuse(const std::function<void(World&)>& act) {
  return failure_of<UsageError>(act);
}

TEST_CASE("aries_overrun_of_a_completion_queue_ends_the_run_by_name") {
  const auto put = [](World& world, CqMode mode) {
    world.domain(0).post_fma(world.endpoint(0, 1), world.transfer(PostType::fma_put, 0, 1, 8, mode));
  };
  CHECK(failure_of<BrokenJob>(
            [&](World& world) {
              for (int i = 0; i < 4; ++i) put(world, kGlobalEvent);
            },
            4)
            .empty());
  CHECK(failure_of<BrokenJob>(
            [&](World& world) {
              for (int i = 0; i < 5; ++i) put(world, kGlobalEvent);
            },
            4) == "aries: rank 0's completion queue 1 of 4 entries is overrun by GLOBAL_EVENT of rank 1");
  CHECK(failure_of<BrokenJob>(
            [&](World& world) {
              for (int i = 0; i < 5; ++i) put(world, kRemoteEvent);
            },
            4) == "aries: rank 1's completion queue 0 of 4 entries is overrun by REMOTE_EVENT of rank 0");
  CHECK(failure_of<BrokenJob>(
            [&](World& world) {
              for (int i = 0; i < 3; ++i) put(world, kLocalEvent | kGlobalEvent);
            },
            4) == "aries: rank 0's completion queue 1 of 4 entries is overrun by GLOBAL_EVENT of rank 1");
}

TEST_CASE("aries_gets_reach_words_of_four_bytes") {
  const auto get = [](PostType type, Bytes offset, Bytes bytes) {
    return misuse([=](World& world) {
      PostDescriptor post = world.transfer(type, 0, 1, bytes);
      post.remote = world.at(1, offset);
      type == PostType::fma_get ? world.domain(0).post_fma(world.endpoint(0, 1), post)
                                : world.domain(0).post_rdma(world.endpoint(0, 1), post);
    });
  };
  const std::string rule = " bytes; its remote address and length have to be multiples of 4 bytes";
  CHECK(get(PostType::fma_get, 4, 12).empty());
  CHECK(get(PostType::rdma_get, 4, 12).empty());
  CHECK(get(PostType::fma_get, 4, 10) == "aries: rank 0's FMA get of 10" + rule);
  CHECK(get(PostType::fma_get, 6, 12) == "aries: rank 0's FMA get of 12" + rule);
  CHECK(get(PostType::rdma_get, 5, 12) == "aries: rank 0's RDMA get of 12" + rule);
  // Any local address is allowed, and so is any address of a put.
  CHECK(misuse([](World& world) {
          PostDescriptor post = world.transfer(PostType::fma_get, 0, 1, 8);
          post.local = world.at(0, 3);
          world.domain(0).post_fma(world.endpoint(0, 1), post);
          post.type = PostType::fma_put;
          post.remote = world.at(1, 1);
          post.length = 7;
          world.domain(0).post_fma(world.endpoint(0, 1), post);
        }).empty());
}

TEST_CASE("aries_misuse_is_named") {
  const auto fma = [](const std::function<void(World&, PostDescriptor&)>& change) {
    return misuse([change](World& world) {
      PostDescriptor post = world.transfer(PostType::fma_put, 0, 1, 8);
      change(world, post);
      world.domain(0).post_fma(world.endpoint(0, 1), post);
    });
  };
  static std::vector<std::byte> elsewhere(64);
  CHECK(fma([](World&, PostDescriptor&) {}).empty());
  CHECK(fma([](World&, PostDescriptor& post) { post.local = elsewhere.data(); }).empty());
  CHECK(fma([](World&, PostDescriptor& post) { post.type = PostType::rdma_put; }) ==
        "aries: rank 0's RDMA put is no post to a window");
  CHECK(fma([](World&, PostDescriptor& post) { post.remote = elsewhere.data(); }) ==
        "aries: rank 0's put of 8 bytes reaches memory that rank 1 has not registered by that handle");
  CHECK(fma([](World& world, PostDescriptor& post) { world.domain(1).dismiss(post.remote_memory); }) ==
        "aries: rank 0's put of 8 bytes reaches memory that rank 1 has not registered by that handle");
  CHECK(fma([](World& world, PostDescriptor& post) { post.remote_memory = world.handles[0]; }) ==
        "aries: rank 0's put of 8 bytes reaches memory that rank 1 has not registered by that handle");
  CHECK(fma([](World& world, PostDescriptor& post) {
          post.remote_memory = world.domain(1).admit(world.memory[1]);
          post.cq_mode = kRemoteEvent;
        }) == "aries: rank 0's REMOTE_EVENT to memory of rank 1 that has no completion queue");
  CHECK(fma([](World&, PostDescriptor& post) {
          post.type = PostType::fma_get;
          post.local = elsewhere.data();
        }) == "aries: rank 0's FMA get of 8 bytes reaches memory that rank 0 has not registered by that handle");
  CHECK(fma([](World& world, PostDescriptor& post) {
          post = world.amo(0, 1, AmoCommand::add, {1, 0}, 256, AmoType::f64);
        }) == "aries: rank 0's AMO ADD of f64, which Aries does not do");
  CHECK(fma([](World& world, PostDescriptor& post) { post = world.amo(0, 1, AmoCommand::add, {1, 0}, 260); }) ==
        "aries: rank 0's AMO on a word that is not aligned to its 8 bytes");
  CHECK(fma([](World& world, PostDescriptor& post) {
          post.type = PostType::fma_put_with_flag;
          post.flag = reinterpret_cast<std::uint64_t*>(world.at(1, 4));
        }) == "aries: rank 0's FMA put with flag that is not aligned to its 8 bytes");
  CHECK(misuse([](World& world) {
          world.domain(0).post_rdma(world.endpoint(0, 1), world.transfer(PostType::rdma_put, 0, 1, 0));
        }) == "aries: rank 0's RDMA put of 0 bytes is nothing for the block transfer engine");
  CHECK(misuse([](World& world) {
          world.domain(0).post_fma(world.endpoint(0, 2), world.transfer(PostType::fma_put, 0, 1, 8));
        }) == "aries: rank 2 does not exist; there are 2");
  CHECK(misuse([](World& world) { (void)world.domain(0).cq_create(0); }) ==
        "aries: rank 0's completion queue of 0 entries; 1 or more are allowed");
}

TEST_CASE("aries_registration_is_paid_for_by_pages") {
  World world({.registration = {{1'000'000}, 50'000}});
  const SimTime before = world.host(0).now();
  const MemoryHandle handle = world.domain(0).mem_register({world.at(0), 5000}, world.arrivals[0]);
  CHECK((world.host(0).now() - before).ps == 1'409'600);
  CHECK(handle.owner == Rank{0});
  world.domain(0).mem_deregister(handle);
  CHECK_THROWS_AS(world.domain(0).mem_deregister(handle), UsageError);
  CHECK(world.domain(0).mem_register({world.at(0), 8}).place == handle.place);
  CHECK_FALSE(world.domain(0).mem_register({world.at(0), 8}) == handle);
}

}  // namespace
}  // namespace gasmeter::networks::aries::events_test
