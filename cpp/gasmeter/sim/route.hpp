// What a packet carries of its way through a topology, and one step of it.
#pragma once

#include <array>
#include <bit>
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

// The way that is left, dimension by dimension. A word for each: bits 0..15 the hops before the wrap link; 16..30 those
// from it on, itself included, 0 if this way does not wrap; bit 31: towards smaller coordinates. They fit: only a ring
// of 65536 has ways of 32768 hops, and none of them starts with the wrap link, given which way ties go (Grid); one-way
// rings are shorter.
struct Route {
  std::array<std::uint32_t, 3> legs{};

  static constexpr std::uint32_t leg(std::uint32_t before, std::uint32_t after, bool down) {
    return before | after << 16U | static_cast<std::uint32_t>(down) << 31U;
  }

  // Dimension order: x, then y, then z. Channel 1 from the wrap link on, 0 again in the next dimension. Not after the
  // last hop. Which count is the next one is computed, not asked: nobody could predict the answers.
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

  // Nothing is left in that dimension.
  [[nodiscard]] bool is_through(std::uint32_t dimension) const { return (legs[dimension] & kCounts) == 0; }

  [[nodiscard]] std::uint32_t hops() const {
    std::uint32_t sum = 0;
    for (const std::uint32_t leg : legs) sum += (leg & 0xffffU) + ((leg & kCounts) >> 16U);
    return sum;
  }

 private:
  static constexpr std::uint32_t kCounts = 0x7fffffffU;
};
static_assert(sizeof(Route) <= 12 && std::is_trivially_copyable_v<Route>);

// Ways as the low 39 bits of a word: of each dimension the hops before and from the wrap link on, then, of each,
// whether it goes towards smaller coordinates. Of so many dimensions, since a hop divides by the width of a count.
template <std::uint32_t kDimensions>
class WayCode {
 public:
  [[nodiscard]] static constexpr bool holds(std::uint32_t hops) { return hops >> kWidth == 0; }  // of one dimension
  [[nodiscard]] static bool goes_on(std::uint64_t way) { return (way & kCounts) != 0; }

  [[nodiscard]] static std::uint64_t pack(const Route& route) {
    std::uint64_t way = 0;
    for (std::uint32_t i = 0; i < kDimensions; ++i) {
      const std::uint64_t leg = route.legs[i];
      way |= ((leg & 0xffffU) | (leg >> 16U & 0x7fffU) << kWidth) << (2 * kWidth * i) | leg >> 31U << (kCountBits + i);
    }
    return way;
  }
  [[nodiscard]] static Route unpack(std::uint64_t way) {
    constexpr std::uint32_t most = (1U << kWidth) - 1;
    Route route;
    for (std::uint32_t i = 0; i < kDimensions; ++i) {
      const std::uint64_t counts = way >> (2 * kWidth * i);
      route.legs[i] =
          Route::leg(static_cast<std::uint32_t>(counts) & most, static_cast<std::uint32_t>(counts >> kWidth) & most,
                     (way >> (kCountBits + i) & 1U) != 0);
    }
    return route;
  }

  // As Route::next().
  static Hop next(std::uint64_t& way) {
    const std::uint32_t count = static_cast<std::uint32_t>(std::countr_zero(way)) / kWidth;
    way -= std::uint64_t{1} << (count * kWidth);
    const std::uint32_t dimension = count / 2;
    return {2 * dimension + static_cast<std::uint32_t>(way >> (kCountBits + dimension) & 1U), count % 2};
  }
  // What next() has taken.
  static void put_back(std::uint64_t& way, const Hop& hop) {
    way += std::uint64_t{1} << ((hop.port / 2 * 2 + hop.channel) * kWidth);
  }

 private:
  static constexpr std::uint32_t kCountBits = 36;
  static constexpr std::uint64_t kCounts = (std::uint64_t{1} << kCountBits) - 1;
  static constexpr std::uint32_t kWidth = kCountBits / (2 * kDimensions);
};

}  // namespace gasmeter::sim
