// The udp conduit over modelled sockets: datagrams that full buffers lose are sent again and counted.
#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "support/ethernet_installation.hpp"
#include "support/pattern.hpp"

namespace gasmeter::networks::ethernet::conduit_test {
namespace {

using gasmeter::testing::EthernetInstallationOf;
using gasmeter::testing::has_pattern;
using gasmeter::testing::ModelWorldOn;
using gasmeter::testing::Trouble;
using gasmeter::testing::write_pattern;
using Endpoint = core::Endpoint<sim::ModelHost>;

// Let ranks 1 to 3 put to rank 0, which is busy elsewhere. Return the network's counters.
template <bool Classic, Trouble What>
EthernetCounters crowd_a_rank() {
  constexpr Bytes bytes = 50'000;
  ModelWorldOn<EthernetInstallationOf<Classic, What>> world({.ranks = 4, .nodes = 4, .segment_bytes = 3 * bytes});
  world.run([&](Endpoint& endpoint) {
    const unsigned self = index(endpoint.rank());
    std::byte* const target = endpoint.segment(Rank{0}).address;
    if (self == 0) {
      endpoint.host().spend({5'000'000'000});
    } else {
      std::vector<std::byte> data(bytes);
      write_pattern(data.data(), bytes, self);
      endpoint.put(Rank{0}, target + (self - 1) * bytes, data.data(), bytes);
    }
    endpoint.barrier();
    for (unsigned rank = 1; self == 0 && rank < 4; ++rank) {
      CHECK(has_pattern(target + (rank - 1) * bytes, bytes, rank));
    }
  });
  return world.installation().network().counters();
}

TEST_CASE("what_rings_and_buffers_lose_comes_again") {
  const EthernetCounters window = crowd_a_rank<false, Trouble::overflow>();
  CHECK(window.overflow_drops + window.ring_drops > 0);
  const EthernetCounters classic = crowd_a_rank<true, Trouble::overflow>();
  CHECK(classic.overflow_drops > 0);
}

TEST_CASE("nothing_is_lost_where_there_is_room") {
  for (const EthernetCounters& seen : {crowd_a_rank<false, Trouble::none>(), crowd_a_rank<true, Trouble::none>()}) {
    CHECK(seen.overflow_drops + seen.ring_drops + seen.incomplete == 0);
    CHECK(seen.datagrams > 3);
  }
}

struct PutTimes {
  std::int64_t returned = 0;  // ps
  std::int64_t leaf = 0;      // 0: not asked for
  std::int64_t root = 0;
  std::int64_t there = 0;
  bool operator==(const PutTimes&) const = default;
};

// Put from rank 0 to rank 1, which polls from time 0 on. Rank 0 overwrites its source as soon as it is free.
PutTimes times_of_put(Bytes bytes, bool is_now, bool strict) {
  ModelWorldOn<EthernetInstallationOf<false, Trouble::none>> world({.strict = strict});
  std::vector<std::byte> source(bytes);
  write_pattern(source.data(), bytes, 5);
  PutTimes times;
  world.run([&](Endpoint& endpoint) {
    const std::byte* const there = endpoint.segment(Rank{1}).address;
    const auto now = [&] { return endpoint.host().now().ps; };
    if (endpoint.rank() == Rank{1}) {
      endpoint.wait_until([&] { return has_pattern(there, bytes, 5); });
      times.there = now();
      return;
    }
    core::Event leaf = core::Event::no_op();
    const core::LocalCompletion local = is_now ? core::LocalCompletion::now() : core::LocalCompletion::event(leaf);
    core::Event root = endpoint.put_nb(Rank{1}, endpoint.segment(Rank{1}).address, source.data(), bytes, local);
    times.returned = now();
    if (!is_now) {
      endpoint.wait(leaf);
      times.leaf = now();
    }
    write_pattern(source.data(), bytes, 6);
    endpoint.wait(root);
    times.root = now();
  });
  return times;
}

// tests/golden/ethernet.md has the sum.
TEST_CASE("udp_put_is_complete_at_either_side_in_its_golden_time") {
  for (const bool strict : {false, true}) {
    CHECK(times_of_put(8, false, strict) == PutTimes{2'076'000, 2'576'000, 23'229'200, 14'026'600});
    CHECK(times_of_put(8, true, strict) == PutTimes{2'076'000, 0, 23'229'200, 14'026'600});
    // Above 8 KiB the source stays in use until all fragments are acknowledged, or is copied.
    const PutTimes large = times_of_put(9'000, false, strict);
    const PutTimes copied = times_of_put(9'000, true, strict);
    CHECK(large.leaf == large.root);
    CHECK(copied.returned == large.returned + 1'810'000);
    CHECK(copied.returned < large.leaf);
  }
}

}  // namespace
}  // namespace gasmeter::networks::ethernet::conduit_test
