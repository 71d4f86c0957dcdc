// The raw variants of kernels on InfiniBand verbs, without a conduit.
#pragma once

#include <cstdint>
#include <memory>

#include "gasmeter/networks/ibv/ibv_context.hpp"
#include "gasmeter/networks/network.hpp"

namespace gasmeter::networks::ibv::raw {

// What a program gets.
struct Context {
  IbvContext& context;
  sim::ModelHost host;
  Rank rank;
  std::uint32_t ranks;
  bool may_inline = true;  // work requests carry what they have room for
};

[[nodiscard]] std::unique_ptr<Program> make_ping_pong(Context context, const Settings& settings);
[[nodiscard]] std::unique_ptr<Program> make_flood(Context context, const Settings& settings);
[[nodiscard]] std::unique_ptr<Program> make_barrier(Context context, const Settings& settings);

// By kernel.
[[nodiscard]] const RawPrograms<Context>& programs();

}  // namespace gasmeter::networks::ibv::raw
