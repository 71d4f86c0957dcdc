// The MPI of a rank process: started by the first measurement that wants it, finished when the rank leaves.
#pragma once

#include <string>

#include "gasmeter/bench/settings.hpp"
#include "gasmeter/launch/rank_link.hpp"
#include "gasmeter/networks/mpi/mpi_library.hpp"

namespace gasmeter::networks::mpi {

// Collective. Option `mpi`: openmpi, mpich, or auto for the only one there is (openmpi before mpich); `transport`: auto
// or tcp. A process can hold one MPI, started once: another one later is refused. What fails on one rank fails on every
// rank.
[[nodiscard]] Library& mpi_of_process(launch::RankLink& link, const bench::Settings& settings);

// Its name: openmpi or mpich; empty if none was started.
[[nodiscard]] std::string name_of_mpi();

// Collective, at the end of a rank that leaves in order. Does nothing if no MPI was started.
void finish_mpi() noexcept;

}  // namespace gasmeter::networks::mpi
