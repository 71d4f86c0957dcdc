// Finds and opens the plug-ins of MPIs: the library itself is linked with none.
#pragma once

#include <string>
#include <vector>

#include "gasmeter/networks/mpi/mpi_library.hpp"

namespace gasmeter::networks::mpi {

// The folder that holds plug-ins: the one of this program, or what GASMETER_MPI_PLUGINS names.
[[nodiscard]] std::string plugin_folder();

// The MPIs that plug-ins were built for, by name (openmpi, mpich).
[[nodiscard]] std::vector<std::string> available_mpis();

// Opens one, which stays open. Throws ResourceError naming what is missing.
[[nodiscard]] Library& load_library(const std::string& name);

}  // namespace gasmeter::networks::mpi
