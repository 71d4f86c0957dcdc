// The raw variants of kernels on an MPI.
#pragma once

#include <memory>

#include "gasmeter/kernels/kernel.hpp"

namespace gasmeter::kernels::raw_mpi {

[[nodiscard]] std::unique_ptr<Program> make_ping_pong(RawMpi context, const Settings& settings);
[[nodiscard]] std::unique_ptr<Program> make_flood(RawMpi context, const Settings& settings);
[[nodiscard]] std::unique_ptr<Program> make_random_access(RawMpi context, const Settings& settings);

}  // namespace gasmeter::kernels::raw_mpi
