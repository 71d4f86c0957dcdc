// Posts. tests/golden/aries.md derives the golden times.
#include <doctest/doctest.h>

#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "gasmeter/base/error.hpp"
#include "networks/aries/world.hpp"
#include "support/pattern.hpp"

namespace gasmeter::networks::aries::posts_test {
namespace {

using namespace testing;
using gasmeter::testing::has_pattern;
using gasmeter::testing::is_filled;
using gasmeter::testing::write_pattern;

// The expected next event, and the time when it has been taken.
struct Expected {
  EventType type;
  std::int64_t ns;
};

void expect(World& world, unsigned rank, CqHandle queue, const std::vector<Expected>& all, std::uint64_t data) {
  for (const Expected& each : all) {
    const CqEvent event = wait_for_event(world, rank, queue);
    CAPTURE(name_of(each.type));
    CHECK(event.type == each.type);
    CHECK(event.data == data);
    CHECK(event.peer == Rank{1 - rank});
    CHECK(world.host(rank).now().ps == each.ns * 1000);
  }
}

struct Exchange {
  PostType type;
  Bytes bytes;
  std::int64_t posted;
  std::vector<Expected> origin;
  std::vector<Expected> target;
};

void check_exchange(const Exchange& exchange, const AriesParameters& parameters = {}) {
  World world({}, parameters);
  const bool put = is_put(exchange.type);
  write_pattern(put ? world.at(0) : world.at(1, 256), exchange.bytes, 1);
  PostDescriptor post =
      world.transfer(exchange.type, 0, 1, exchange.bytes,
                     static_cast<CqMode>(put ? kLocalEvent | kGlobalEvent | kRemoteEvent : kLocalEvent | kGlobalEvent));
  if (exchange.type == PostType::fma_put_with_flag) {
    post.flag = reinterpret_cast<std::uint64_t*>(world.at(1));
    post.flag_value = 99;
  }
  world.engine.start(Rank{0}, [&] {
    const bool by_window = exchange.type != PostType::rdma_put && exchange.type != PostType::rdma_get;
    by_window ? world.domain(0).post_fma(world.endpoint(0, 1), post)
              : world.domain(0).post_rdma(world.endpoint(0, 1), post);
    CHECK(world.host(0).now().ps == exchange.posted * 1000);
    expect(world, 0, world.completions[0], exchange.origin, 7);
  });
  world.engine.start(Rank{1}, [&] {
    expect(world, 1, world.arrivals[1], exchange.target, 1000);
    if (put) CHECK(has_pattern(world.at(1, 256), exchange.bytes, 1));
    if (post.flag != nullptr) CHECK(*post.flag == 99);
  });
  world.engine.run();
  const std::byte* const to = put ? world.at(1, 256) : world.at(0);
  CHECK(has_pattern(to, exchange.bytes, 1));
  CHECK(is_filled(to + exchange.bytes, 64, 0));
}

TEST_CASE("aries_fma_put_of_eight_bytes") {
  check_exchange(
      {PostType::fma_put, 8, 48, {{EventType::local, 348}, {EventType::global, 1008}}, {{EventType::remote, 680}}});
}

TEST_CASE("aries_fma_put_with_flag") {
  check_exchange({PostType::fma_put_with_flag,
                  8,
                  56,
                  {{EventType::local, 356}, {EventType::global, 1026}},
                  {{EventType::remote, 700}}});
}

TEST_CASE("aries_fma_put_of_a_hundred_bytes") {
  check_exchange(
      {PostType::fma_put, 100, 140, {{EventType::local, 440}, {EventType::global, 1120}}, {{EventType::remote, 790}}});
}

TEST_CASE("aries_fma_put_in_pieces") {
  check_exchange({PostType::fma_put,
                  3000,
                  3040,
                  {{EventType::local, 3340}, {EventType::global, 5100}},
                  {{EventType::remote, 4770}}});
}

TEST_CASE("aries_fma_get_of_eight_bytes") {
  check_exchange({PostType::fma_get, 8, 40, {{EventType::local, 1510}, {EventType::global, 1610}}, {}});
}

TEST_CASE("aries_fma_get_of_a_hundred_bytes") {
  check_exchange({PostType::fma_get, 100, 40, {{EventType::local, 1570}, {EventType::global, 1670}}, {}});
}

TEST_CASE("aries_rdma_put") {
  check_exchange({PostType::rdma_put,
                  3000,
                  40,
                  {{EventType::local, 4340}, {EventType::global, 6100}},
                  {{EventType::remote, 5770}}});
}

TEST_CASE("aries_rdma_get") {
  check_exchange({PostType::rdma_get, 3000, 40, {{EventType::local, 6210}, {EventType::global, 6310}}, {}});
}

}  // namespace
}  // namespace gasmeter::networks::aries::posts_test
