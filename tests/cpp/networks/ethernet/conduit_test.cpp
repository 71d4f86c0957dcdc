// The udp conduit over modelled sockets: what is lost where there is no room comes again, and is counted.
#include <doctest/doctest.h>

#include <cstddef>
#include <vector>

#include "support/ethernet_installation.hpp"
#include "support/pattern.hpp"

namespace gasmeter::networks::ethernet {
namespace {

using gasmeter::testing::EthernetInstallationOf;
using gasmeter::testing::has_pattern;
using gasmeter::testing::ModelWorldOn;
using gasmeter::testing::Trouble;
using gasmeter::testing::write_pattern;
using Endpoint = core::Endpoint<sim::ModelHost>;

// Ranks 1 to 3 put to rank 0, which is busy elsewhere; returns what the network has seen.
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

}  // namespace
}  // namespace gasmeter::networks::ethernet
