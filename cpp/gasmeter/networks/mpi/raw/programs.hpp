// The raw variants of kernels on an MPI.
#pragma once

#include <cstdint>
#include <memory>

#include "gasmeter/base/real_host.hpp"
#include "gasmeter/networks/mpi/mpi_library.hpp"
#include "gasmeter/networks/network.hpp"

namespace gasmeter::networks::mpi::raw {

// What a program gets.
struct Context {
  RawMessages& messages;
  RealHost host;
  Rank rank;
  std::uint32_t ranks;
};

[[nodiscard]] std::unique_ptr<Program> make_ping_pong(Context context, const Settings& settings);
[[nodiscard]] std::unique_ptr<Program> make_flood(Context context, const Settings& settings);
[[nodiscard]] std::unique_ptr<Program> make_random_access(Context context, const Settings& settings);

inline constexpr std::uint32_t kTag = 1;  // of the programs between two ranks

// By kernel.
[[nodiscard]] const RawPrograms<Context>& programs();

}  // namespace gasmeter::networks::mpi::raw
