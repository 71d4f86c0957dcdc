// Raw variants of the kernels on InfiniBand verbs, without a conduit.
#pragma once

#include <cstdint>
#include <memory>

#include "gasmeter/networks/ibv/ibv_context.hpp"
#include "gasmeter/networks/network.hpp"

namespace gasmeter::networks::ibv::raw {

// Context that a raw program runs in: its verbs, its clock, its rank and its options.
struct Context {
  IbvContext& context;
  sim::ModelHost host;
  Rank rank;
  std::uint32_t ranks;
  bool may_inline = true;  // work requests carry payloads that fit
};

[[nodiscard]] std::unique_ptr<Program> make_ping_pong(Context context, const Settings& settings);
[[nodiscard]] std::unique_ptr<Program> make_flood(Context context, const Settings& settings);
[[nodiscard]] std::unique_ptr<Program> make_barrier(Context context, const Settings& settings);

// The raw programs by kernel.
[[nodiscard]] const RawPrograms<Context>& programs();

}  // namespace gasmeter::networks::ibv::raw
