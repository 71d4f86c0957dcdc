// Raw programs on a real MPI.
#pragma once

#include <cstdint>
#include <memory>

#include "gasmeter/base/real_host.hpp"
#include "gasmeter/networks/mpi/mpi_library.hpp"
#include "gasmeter/networks/network.hpp"

namespace gasmeter::networks::mpi::raw {

// Context that a raw program runs in: its MPI and its host.
struct Context {
  RawMessages& messages;
  RealHost host;
  Rank rank;
  std::uint32_t ranks;
};

[[nodiscard]] std::unique_ptr<Program> make_ping_pong(Context context, const Settings& settings);
[[nodiscard]] std::unique_ptr<Program> make_flood(Context context, const Settings& settings);
[[nodiscard]] std::unique_ptr<Program> make_random_access(Context context, const Settings& settings);

inline constexpr std::uint32_t kTag = 1;  // tag of the programs between two ranks

// Raw programs, one for each kernel.
[[nodiscard]] const RawPrograms<Context>& programs();

}  // namespace gasmeter::networks::mpi::raw
