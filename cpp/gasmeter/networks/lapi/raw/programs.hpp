// Raw variants of the kernels on LAPI, without a conduit.
#pragma once

#include <cstdint>
#include <memory>

#include "gasmeter/networks/lapi/lapi_task.hpp"
#include "gasmeter/networks/network.hpp"

namespace gasmeter::networks::lapi::raw {

// Context that a raw program runs in: its task, its clock, its rank and its options.
struct Context {
  LapiTask& task;
  sim::ModelHost host;
  Rank rank;
  std::uint32_t ranks;
  bool rdma = true;  // the adapters do puts and gets alone
};

[[nodiscard]] std::unique_ptr<Program> make_ping_pong(Context context, const Settings& settings);
[[nodiscard]] std::unique_ptr<Program> make_flood(Context context, const Settings& settings);
[[nodiscard]] std::unique_ptr<Program> make_barrier(Context context, const Settings& settings);

// The raw programs by kernel.
[[nodiscard]] const RawPrograms<Context>& programs();

}  // namespace gasmeter::networks::lapi::raw
