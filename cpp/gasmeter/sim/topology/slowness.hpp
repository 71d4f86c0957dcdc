// Slowness: by which factor something takes longer than usual.
#pragma once

#include <cstdint>

#include "gasmeter/base/units.hpp"
#include "gasmeter/conduit/host.hpp"

namespace gasmeter::sim {

struct Slowness {
  std::uint32_t thousandths = 1000;  // at least 1000

  [[nodiscard]] constexpr std::int64_t of(std::int64_t amount) const {
    const std::int64_t whole = amount / 1000;
    const SimTime part{((amount - whole * 1000) * thousandths + 500) / 1000};
    return (SimTime{whole} * thousandths + part).ps;
  }
  [[nodiscard]] constexpr SimTime of(SimTime time) const { return {of(time.ps)}; }
  [[nodiscard]] constexpr conduit::Price of(conduit::Price price) const {
    price.fixed = of(price.fixed);
    price.per_byte_fs = of(price.per_byte_fs);
    price.cached = of(price.cached);
    return price;
  }
  // Scale all that a core does; the memory that cores share keeps its bandwidth.
  [[nodiscard]] conduit::HostPrices of(conduit::HostPrices prices) const {
    for (conduit::Price& price : prices.on_own_core) price = of(price);
    for (conduit::Price& price : prices.on_shared) price = of(price);
    prices.copy = of(prices.copy);
    return prices;
  }
  constexpr auto operator<=>(const Slowness&) const = default;
};

}  // namespace gasmeter::sim
