// What a packet carries of its way through a topology, and one step of it.
#pragma once

#include <array>
#include <cstdint>
#include <type_traits>

namespace gasmeter::sim {

// Where a link ends: the vertex, and its port that leads back.
struct LinkEnd {
  std::uint32_t vertex = 0;
  std::uint32_t port = 0;
  bool operator==(const LinkEnd&) const = default;
};

// The output a packet takes at a vertex.
struct Hop {
  std::uint32_t port = 0;
  std::uint32_t channel = 0;  // virtual channel of that link
  bool operator==(const Hop&) const = default;
};

// The rest of the way along one dimension of a grid. `after` fits: only a ring of 65536 has ways of 32768 hops, and
// none of them starts with the wrap link, given which way ties go (Grid).
struct Leg {
  std::uint32_t before : 16 = 0;  // hops before the wrap link
  std::uint32_t after : 15 = 0;   // hops from it on, itself included; 0: this way does not wrap
  std::uint32_t down : 1 = 0;     // towards smaller coordinates
};

// The rest of the way of a packet. Other topologies than grids need none: their switches look at the destination.
struct Route {
  std::array<Leg, 3> legs{};

  // Dimension order: x, then y, then z. Channel 1 from the wrap link on, 0 again in the next dimension. Not after the
  // last hop.
  Hop next() {
    for (std::uint32_t dimension = 0;; ++dimension) {
      Leg& leg = legs[dimension];
      const std::uint32_t port = 2 * dimension + leg.down;
      if (leg.before != 0) {
        --leg.before;
        return {port, 0};
      }
      // The last dimension is not asked: what is left is there.
      if (leg.after != 0 || dimension + 1 == legs.size()) {
        --leg.after;
        return {port, 1};
      }
    }
  }

  [[nodiscard]] std::uint32_t hops() const {
    std::uint32_t sum = 0;
    for (const Leg& leg : legs) sum += leg.before + leg.after;
    return sum;
  }
};
static_assert(sizeof(Route) <= 12 && std::is_trivially_copyable_v<Route>);

}  // namespace gasmeter::sim
