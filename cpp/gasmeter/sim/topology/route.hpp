// The route that a packet carries through a topology, and one step of it.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <type_traits>

#include "gasmeter/base/platform.hpp"

namespace gasmeter::sim {

// The end of a link: the vertex, and its port that leads back.
struct LinkEnd {
  std::uint32_t vertex = 0;
  std::uint32_t port = 0;
  bool operator==(const LinkEnd&) const = default;
};

// The output that a packet takes at a vertex.
struct Hop {
  std::uint32_t port = 0;
  std::uint32_t channel = 0;  // virtual channel of that link
  bool operator==(const Hop&) const = default;
};

// The way that is left, a word for each dimension. Bits 0..15 count the hops before the wrap link. Bits 16..30 count
// the hops from the wrap link on, itself included; 0 if the way does not wrap. Bit 31 means towards smaller
// coordinates. The counts fit: only a ring of 65536 has ways of 32768 hops, and by the rule for ties (Grid) none of
// them starts with the wrap link. One-way rings are shorter.
struct Route {
  std::array<std::uint32_t, 3> legs{};

  static constexpr std::uint32_t leg(std::uint32_t before, std::uint32_t after, bool down) {
    return before | after << 16U | static_cast<std::uint32_t>(down) << 31U;
  }

  // Take the next hop in dimension order: x, then y, then z; channel 1 from the wrap link on, 0 again in the next
  // dimension. Must not be called after the last hop. The next count is computed without a branch, since nobody could
  // predict it.
  Hop next() {
    const std::uint64_t xy = legs[0] | static_cast<std::uint64_t>(legs[1]) << 32U;
    const std::uint64_t counts = xy & (kCounts | std::uint64_t{kCounts} << 32U);
    if (counts == 0) {
      const auto count = static_cast<std::uint32_t>(std::countr_zero(legs[2] & kCounts)) / 16;
      const std::uint32_t port = 4 + (legs[2] >> 31U);
      legs[2] -= 1U << (16 * count);
      return {port, count};
    }
    const auto count = static_cast<std::uint32_t>(std::countr_zero(counts)) / 16;
    const std::uint32_t dimension = count / 2;
    const std::uint64_t left = xy - (std::uint64_t{1} << (16 * count));
    legs[0] = static_cast<std::uint32_t>(left);
    legs[1] = static_cast<std::uint32_t>(left >> 32U);
    return {2 * dimension + static_cast<std::uint32_t>(xy >> (32 * dimension + 31) & 1U), count % 2};
  }

  // Make a route of a WayCode, in place of the three words, for an express packet that waits.
  [[nodiscard]] static Route of_code(std::uint64_t way) {
    return {{static_cast<std::uint32_t>(way), static_cast<std::uint32_t>(way >> 32U), kCode}};
  }
  [[nodiscard]] bool is_code() const { return legs[2] == kCode; }
  [[nodiscard]] std::uint64_t code() const { return legs[0] | std::uint64_t{legs[1]} << 32U; }

  // Tell whether nothing is left in that dimension.
  [[nodiscard]] bool is_through(std::uint32_t dimension) const { return (legs[dimension] & kCounts) == 0; }

  // Return the part of the way in the first dimension in which something is left.
  [[nodiscard]] Route first_part() const {
    Route part;
    std::size_t i = 0;
    while (is_through(static_cast<std::uint32_t>(i))) ++i;
    part.legs[i] = legs[i];
    return part;
  }

  [[nodiscard]] std::uint32_t hops() const {
    std::uint32_t sum = 0;
    for (const std::uint32_t leg : legs) sum += (leg & 0xffffU) + ((leg & kCounts) >> 16U);
    return sum;
  }

 private:
  static constexpr std::uint32_t kCounts = 0x7fffffffU;
  static constexpr std::uint32_t kCode = 0xffffffffU;  // no leg has this word
};
static_assert(sizeof(Route) <= 12 && std::is_trivially_copyable_v<Route>);

// Ways as the low 60 bits of a word: legs, the next one lowest. A leg is the output that its hops take (three bits of
// port, one of channel) and the number of hops. A dimension has a leg before the wrap link and a leg from there on,
// where the way has such hops; a finished leg is gone. The number of dimensions is a parameter, since dimensions share
// the bits.
template <std::uint32_t kDimensions>
class WayCode {
 public:
  static constexpr unsigned kLegBits = 60 / (2 * kDimensions);

  [[nodiscard]] static constexpr bool holds(std::uint32_t hops) { return hops >> kCountBits == 0; }  // in one dimension
  [[nodiscard]] static constexpr bool goes_on(std::uint64_t way) { return way != 0; }

  [[nodiscard]] static std::uint64_t pack(const Route& route) {
    std::uint64_t way = 0;
    for (std::uint32_t i = kDimensions; i-- != 0;) {
      const std::uint32_t port = 2 * i + (route.legs[i] >> 31U);
      put_first(way, {port, 1}, route.legs[i] >> 16U & 0x7fffU);
      put_first(way, {port, 0}, route.legs[i] & 0xffffU);
    }
    return way;
  }
  [[nodiscard]] static Route unpack(std::uint64_t way) {
    Route route;
    for (; way != 0; way >>= kLegBits) {
      const Hop next = hop(way);
      const auto count = static_cast<std::uint32_t>(way >> 4U & kMost);
      const bool down = next.port % 2 != 0;
      route.legs[next.port / 2] |= next.channel == 0 ? Route::leg(count, 0, down) : Route::leg(0, count, down);
    }
    return route;
  }

  // Return the next hop. Must not be called after the last.
  [[nodiscard]] static GASMETER_INLINE Hop hop(std::uint64_t way) {
    return {static_cast<std::uint32_t>(way) & 7U, static_cast<std::uint32_t>(way) >> 3U & 1U};
  }
  // Return the way behind that hop. The end of a leg is computed without a branch, since nobody could predict it.
  [[nodiscard]] static GASMETER_INLINE std::uint64_t behind(std::uint64_t way) {
    const std::uint64_t left = way - (std::uint64_t{1} << 4U);
    const std::uint64_t over = left >> kLegBits;
    return (left & (kMost << 4U)) != 0 ? left : over;
  }

 private:
  static constexpr unsigned kCountBits = kLegBits - 4;
  static constexpr std::uint64_t kMost = (std::uint64_t{1} << kCountBits) - 1;

  static void put_first(std::uint64_t& way, const Hop& hop, std::uint64_t count) {
    if (count != 0) way = way << kLegBits | count << 4U | std::uint64_t{hop.channel} << 3U | hop.port;
  }
};

}  // namespace gasmeter::sim
