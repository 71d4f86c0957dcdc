// Raw variants of the kernels on GM, without a conduit.
#pragma once

#include <cstdint>
#include <memory>

#include "gasmeter/networks/gm/gm_port.hpp"
#include "gasmeter/networks/network.hpp"

namespace gasmeter::networks::gm::raw {

// Context that a raw program runs in: its port, its clock and its rank.
struct Context {
  GmPort& port;
  sim::ModelHost host;
  Rank rank;
  std::uint32_t ranks;
};

[[nodiscard]] std::unique_ptr<Program> make_ping_pong(Context context, const Settings& settings);
[[nodiscard]] std::unique_ptr<Program> make_flood(Context context, const Settings& settings);
[[nodiscard]] std::unique_ptr<Program> make_barrier(Context context, const Settings& settings);

// The raw programs by kernel.
[[nodiscard]] const RawPrograms<Context>& programs();

}  // namespace gasmeter::networks::gm::raw
