// Finds and opens plug-ins, one for each MPI. The library itself is linked with no MPI.
#pragma once

#include <string>
#include <vector>

#include "gasmeter/networks/mpi/mpi_library.hpp"

namespace gasmeter::networks::mpi {

// Return the folder of plug-ins: this program's, or the folder that GASMETER_MPI_PLUGINS names.
[[nodiscard]] std::string plugin_folder();

// Return the names of the MPIs that have a plug-in (openmpi, mpich).
[[nodiscard]] std::vector<std::string> available_mpis();

// Open a plug-in, which stays open. Throws ResourceError naming the missing part.
[[nodiscard]] Library& load_library(const std::string& name);

}  // namespace gasmeter::networks::mpi
