// Four pieces put as one packet, in any world of ranks in virtual time.
#pragma once

#include <doctest/doctest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "gasmeter/core/vis/vis.hpp"
#include "gasmeter/sim/engine/model_host.hpp"

namespace gasmeter::core::vis {

// Rank 0 puts four pieces of 8 B, every 16 B at both sides, at time 0, while rank 1 polls from 0 on. Return the
// initiator's time at which the call returns, and the target's at which it has acknowledged.
struct Times {
  SimTime complete;
  SimTime acknowledged;
};

template <class World>
Times put_four_pieces(bool strict) {
  constexpr std::array<Bytes, 1> kCounts{4};
  constexpr std::array<std::ptrdiff_t, 1> kStrides{16};
  World world({.strict = strict});
  std::array<std::uint64_t, 8> source{1, 2, 3, 4, 5, 6, 7, 8};
  Times times;
  world.run([&](Endpoint<sim::ModelHost>& endpoint) {
    const auto* const words = reinterpret_cast<const std::uint64_t*>(endpoint.segment(Rank{1}).address);
    if (endpoint.rank() == Rank{1}) {
      endpoint.wait_until([&] { return words[6] == 7; });
      times.acknowledged = endpoint.host().now();
      return;
    }
    Vis<sim::ModelHost> vis(endpoint);
    vis.put(Rank{1}, Strided{endpoint.segment(Rank{1}).address, kStrides, source.data(), kStrides, 8, kCounts});
    times.complete = endpoint.host().now();
    CHECK(vis.last().mechanism == Mechanism::pack);
    CHECK(vis.last().messages == 1);
    const std::array<std::uint64_t, 7> expected{1, 0, 3, 0, 5, 0, 7};
    CHECK(std::memcmp(words, expected.data(), sizeof expected) == 0);
  });
  return times;
}

}  // namespace gasmeter::core::vis
