#include "gasmeter/bench/peer_counts.hpp"

#include <doctest/doctest.h>

#include <random>
#include <vector>

namespace gasmeter::bench::peer_counts_test {
namespace {

TEST_CASE("counts_of_few_or_many_peers_are_those_of_a_plain_table") {
  for (const std::uint32_t peers : {1U, 64U, 65U, 5'000U, 1'000'000U}) {
    CAPTURE(peers);
    PeerCounts counts(peers);
    std::mt19937_64 random(peers);
    for (const std::uint32_t met : {3U, 40U, 20'000U}) {
      std::vector<std::uint32_t> expected(peers);
      for (std::uint32_t i = 0; i < met; ++i) {
        const auto peer = static_cast<std::uint32_t>(random() % peers);
        counts.add(peer);
        ++expected[peer];
      }
      bool same = true;
      for (std::uint32_t peer = 0; peer < peers; ++peer) same = same && counts[peer] == expected[peer];
      CHECK(same);
      counts.clear();
      CHECK(counts[peers - 1] == 0);
    }
  }
}

}  // namespace
}  // namespace gasmeter::bench::peer_counts_test
