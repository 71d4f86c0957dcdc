// The MPI of a rank process. The first measurement that needs it starts it, and it ends with the rank.
#pragma once

#include <string>

#include "gasmeter/bench/settings.hpp"
#include "gasmeter/launch/rank_link.hpp"
#include "gasmeter/networks/mpi/mpi_library.hpp"

namespace gasmeter::networks::mpi {

// Return the process's MPI, started if necessary. Collective: an error of one rank fails on every rank. Option `mpi` is
// openmpi, mpich, or auto for the only installed MPI (openmpi before mpich). Option `transport` is auto or tcp. A
// process holds one MPI, started once, so a later call for another MPI is refused.
[[nodiscard]] Library& mpi_of_process(launch::RankLink& link, const bench::Settings& settings);

// Return openmpi or mpich; empty if no MPI was started.
[[nodiscard]] std::string name_of_mpi();

// Finish the MPI, if one was started. Collective, at the end of a rank that leaves in order.
void finish_mpi() noexcept;

}  // namespace gasmeter::networks::mpi
