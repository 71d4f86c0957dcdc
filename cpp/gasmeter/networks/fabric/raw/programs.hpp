// Raw programs on the fabric alone.
#pragma once

#include <cstdint>
#include <memory>

#include "gasmeter/networks/fabric/bare_network.hpp"
#include "gasmeter/networks/network.hpp"

namespace gasmeter::networks::fabric::raw {

// Context that a raw program runs in: its port and its rank.
struct Context {
  BarePort& port;
  Rank rank;
  std::uint32_t ranks;
};

[[nodiscard]] std::unique_ptr<Program> make_simulator(Context context, const Settings& settings);
// Return the bytes of each rank's memory.
[[nodiscard]] Bytes share_of_simulator(const Settings& settings);

// Raw programs, one for each kernel.
[[nodiscard]] const RawPrograms<Context>& programs();

}  // namespace gasmeter::networks::fabric::raw
